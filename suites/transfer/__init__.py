"""The transfer study: gaits, recoveries and diagnoses on robots that are not their model."""
