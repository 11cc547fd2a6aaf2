"""What to do when it breaks: damage, recovery, deployment.

* `damage`: kinds of damage, each a change to a robot.
* `selectors`: ways of choosing the next controller to try.
* `recovery`: the trial loop, from a repertoire and a damage to a controller that works again.
* `deployment`: runs one controller on an intact or damaged robot and records what happens.
"""
