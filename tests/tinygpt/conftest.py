"""The modules beside the exercise are imported as a student's notebook does: by their names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "solutions" / "tinygpt"))
