"""Taking in a robot from a user's files.

* `self_contained`: an MJCF with what it includes and refers to, as one text.
* `references`: where an MJCF refers to other files.
* `naming`: names for the elements that have none.
* `surface`, `meshes`, `colours`: meshes and textures as part of that text.
* `anatomy`: torso, legs and feet of a model that nobody has described yet.
* `draft`: a first YAML for it.
* `examination`: what is odd about a robot, in sentences.
"""
