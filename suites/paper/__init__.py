"""Studies: the experiments of the field, with many trials that are run, resumed and reported on.

`studies` holds the paper's three, `study` runs one in a folder, `trial` is one run in it. `study_report`
compares with the published tables, which `published` reads from YAML. `report` has what any report needs.
"""
