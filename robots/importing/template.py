"""The YAML that a draft fills in."""

KEYFRAME = "keyframe: {}  # episodes start in this pose of the MJCF"
RANGES = """
# Ranges of motion [rad], of the joint and of what its servo is told. In the MJCF these joints have none, can
# turn more than once around, or have servos that can be told more than they reach. (?)
ranges:"""
TEMPLATE = """\
# A first description of {model}, made from the MJCF alone. What is marked (?) is a guess: look at it, change
# it, and see what comes of it with: surefoot robots --check {file}
# Units in [brackets].
name: {name}
title: {title}
model: {model}

torso: {torso}  # the body that moves freely
floor: {floor}  # the geom that is the ground
{keyframe}
# Actuated joints in the order of observations and actions. Leave out those that nobody shall move. (?)
joints:
{joints}
{ranges}
# The geoms of each foot that touch the ground: those that are lowest when the robot stands. (?)
feet:
{feet}

# Each leg's joints from the torso outwards, and its foot: what can be damaged.
legs:
{legs}

# The share of time on the ground of these feet, in this order, tells gaits apart; 2 to 6 feet are good.
measures: {measures}

substeps: {substeps}  # physics steps of {timestep:g} s per control step, {control_step:g} s
episode_steps: {episode_steps}  # control steps an episode has at most, {seconds:g} s (?)
reset_joint_noise: 0.05  # [rad] joint angles start uniform in ± this, about {start}
alive:
  min_height: {min_height:g}  # [m] of the torso: half of its height when the robot stands (?)
  max_tilt: 1.2  # [rad] between the torso and the vertical (?)

# Reward per control step, as the Ant's. (?)
reward:
  alive: 1.0  # added while alive, subtracted when not
  progress: 1.0  # per m/s along x
  electricity: -2.0  # per mean |action * 0.1 * joint velocity [rad/s]|
  torque: -0.1  # per mean action²
  joint_at_limit: -0.1  # per joint beyond 99% of its range

controller: {{kind: mlp, hidden: [128, 128]}}

archive: {archive}  # cells along each measure

# The floor of every threshold and the offset of the QD score: about the lowest objective that a search meets.
min_objective:
  value: -250.0
  source: 'a guess; measure it with: python -m benchmarks.min_objective {file}'
"""
