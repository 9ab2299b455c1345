"""Says of each line {"schema": .., "instance": ..} on standard input what Python's `jsonschema` says.

One word a line: `valid`, `invalid`, or `schema` where it cannot use the schema.
The schema is not checked first, as most users of that library do not.
"""

import json
import sys

from jsonschema.exceptions import UnknownType
from jsonschema.validators import Draft202012Validator, validator_for

for line in sys.stdin:
    case = json.loads(line)
    validator = validator_for(case["schema"], default=Draft202012Validator)
    try:
        print("valid" if validator(case["schema"]).is_valid(case["instance"]) else "invalid")
    except UnknownType:
        print("schema")
