"""The legend of a mission in every drawing: colours and words of what the robot did and what happened."""

from robots.rendering.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

DONE = {"walk": (BLUE, "walks"), "trial": (SKY, "tries a gait"), "thought": (GREY, "thinks")}
HAPPENED = {
    "change": (VERMILION, "something breaks or is repaired"),
    "alarm": (ORANGE, "alarm"),
    "fall": ("#7a1f00", "fall"),
    "assistance": (PURPLE, "set upright"),
    "relearned": (GREEN, "better gait refined"),
}
