"""A robot whose model does what the models of the package do not.

Nested frames, two joints in a body, servos, given inertias, bodies without names, sensors, pairs, excluded
contacts and a keyframe.
"""

from robots.robot import robot_from_text

XML = """
<mujoco model="odd">
  <compiler angle="degree" autolimits="true"/>
  <option timestep="0.002"/>
  <default><geom friction="0.6 0.02 0.001"/></default>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1" friction="0.9 0.01 0.002" solref="0.01 1" solmix="2"/>
    <body name="trunk" pos="0 0 0.5">
      <freejoint name="root"/>
      <inertial pos="0.01 0 0" mass="2" diaginertia="0.01 0.02 0.02"/>
      <geom name="trunk" type="box" size="0.2 0.1 0.05" contype="0" conaffinity="0"/>
      <frame pos="0.1 0.1 0" euler="0 0 30">
        <frame pos="0 0.05 0" euler="0 20 0">
          <body pos="0.02 0 0" euler="10 0 45">
            <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.001 0.002 0.002"/>
            <joint name="swing" axis="0 0 1" pos="0.01 0.02 0.03" range="-90 60" damping="0.3"/>
            <joint name="lift" axis="0.6 0 0.8" pos="0 0.05 0" range="-60 90" damping="0.3"/>
            <geom name="thigh" type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
            <site name="mount" pos="0.1 0 0.02"/>
            <body pos="0.2 0 0">
              <joint name="bend" axis="0 1 0" ref="20" range="10 80" damping="0.3"/>
              <geom name="shin" type="cylinder" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.2"/>
              <body pos="0 0 -0.3">
                <geom name="ball" type="sphere" size="0.03" mass="0.05" priority="-1"/>
              </body>
            </body>
          </body>
        </frame>
      </frame>
      <body name="strut" pos="-0.1 -0.05 0">
        <joint name="push" type="slide" axis="0 0 1" range="-0.1 0.1" damping="5"/>
        <geom name="strut" type="capsule" fromto="0 0 0 0 0 -0.35" size="0.03"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="trunk" body2="strut"/><pair geom1="strut" geom2="ground"/></contact>
  <actuator>
    <position name="swing" joint="swing" kp="20" dampratio="1" ctrlrange="-60 40" forcerange="-2 2"/>
    <motor name="lift" joint="lift" gear="8" ctrlrange="-1 1"/>
    <position joint="bend" kp="15" kv="0.4" ctrlrange="20 70"/>
    <position name="push" joint="push" kp="200" ctrlrange="-0.05 0.05" forcerange="-20 20"/>
  </actuator>
  <sensor>
    <jointpos joint="bend"/><actuatorfrc actuator="lift"/><touch site="mount"/>
    <framepos objtype="geom" objname="ball"/>
  </sensor>
  <keyframe><key name="home" qpos="0 0 0.5 1 0 0 0 0.1 0.2 0.5 0"/></keyframe>
</mujoco>
"""

YAML = """
name: odd
title: odd robot
model: odd.xml
torso: trunk
floor: ground
joints: [swing, lift, bend, push]
feet: {ball: [ball], strut: [strut]}
legs:
  arm: {joints: [swing, lift, bend], foot: ball}
  peg: {joints: [push], foot: strut}
measures: [ball, strut]
substeps: 5
episode_steps: 100
reset_joint_noise: 0.0
alive: {min_height: 0.1}
reward: {alive: 1.0, progress: 1.0, electricity: 0.0, torque: 0.0, joint_at_limit: 0.0}
controller: {kind: mlp, hidden: [4]}
archive: [4, 4]
min_objective: {value: 0.0, source: none}
"""


def odd_robot(*, more: str = ""):
    """The robot, with more elements in its MJCF."""
    return robot_from_text(XML.replace("</mujoco>", f"{more}</mujoco>"), YAML, origin="odd")
