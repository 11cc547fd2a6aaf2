"""The colours of all figures: those of Okabe and Ito, which colour-blind people can tell apart, and greys."""

BLUE, ORANGE, GREEN, VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, BLACK, GREY = "#cc79a7", "#56b4e9", "#000000", "#777777"
COLORS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)  # of curves, which also differ in dashes
QUIET = "#555555"  # of notes and guides
EMPTY = "#e4e4e4"  # of cells without a solution, and of grids
