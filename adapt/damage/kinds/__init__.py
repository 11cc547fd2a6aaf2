"""The kinds of damage, one file each; all of them are found by `adapt.damage.damage.damage_kinds`."""
