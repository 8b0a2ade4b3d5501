"""Studies: papers run again and their claims judged; a folder a study, a row in `studies.STUDIES` each."""
