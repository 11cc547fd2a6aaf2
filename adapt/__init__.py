"""What to do when a robot is damaged.

* `damage/`: kinds of damage, each a change to a robot.
* `records`: what passes between the others; `evidence`: what episodes show besides their objective.
* `rehearsal/`: every gait under every damage of a library; `self_model/`: faults fitted to what trials show.
* `selectors/`: ways of choosing the next controller to try; `gaussian_process`: what some of them believe by.
* `relearning/`: gaits that are found on the models of a damage; `strengthening`: before anything breaks.
* `mission/`: a robot that walks to goals, breaks, notices and walks on, without resets.
* `recovery`: the trial loop, from a repertoire and a damage to a controller that works again;
  `objective`, `confirmation`, `report`: what it needs.
"""
