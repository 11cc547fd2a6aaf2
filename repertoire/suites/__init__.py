"""Suites: the experiments of the field as studies that are run, resumed and reported on.

* `optimization`: the CMA-MAE variants on the benchmarks Sphere, Arm and Maze.
* `locomotion`: algorithms that train robots; `ablation`: the archive learning rate in one of them.
* `study`: `Study`, many trials in a folder, which `claim` makes its own; `workers`: the processes that run
  them; `progress`: how far it is.
* `plan`: `Plan`, what a trial is to do; `runner`: one on a benchmark; `result`: what it leaves behind;
  `files`: that in a file.
* `gait_study`, `gait_trial`, `gait_result`, `gait_report`, `gait_videos`: the same where robots are trained;
  `gait_experiment`: `GaitExperiment`, one of the paper's; `costs`: what that took; `estimate`: how long it
  will take.
* `published`: `PublishedStudy`, what ours is held against; `published_optimization`, `published_locomotion`,
  `published_ablation`: what Tjanaka et al. 2023 report; `words_locomotion`: what our reports say of it.
* `report`: what a study shows, in Markdown and HTML.
* `trials`, `tables`, `completeness`, `agreement`, `comparisons`, `hypotheses`, `losses`, `figures`,
  `learning_rates`, `places`, `video_grid`, `sections`, `document`, `formats`: parts of it.
"""
