"""Studies: papers reproduced and their claims judged; each has a folder and a row in `studies.STUDIES`."""
