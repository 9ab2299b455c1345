"""The tasks of BFCL's multi-turn sets, and what their gold calls give when nothing is in between."""

import ast
import importlib
import inspect
import json
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import bfcl_eval
from bfcl_eval.constants.executable_backend_config import (
    CLASS_FILE_PATH_MAPPING,
    MULTI_TURN_FUNC_DOC_FILE_MAPPING,
    STATELESS_CLASSES,
)
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import state_checker
from jsonschema import Draft202012Validator

DATA = Path(bfcl_eval.__file__).parent / "data"
SETS = ("base", "long_context", "miss_func", "miss_param")
CLASSES = (
    "GorillaFileSystem",
    "MathAPI",
    "MessageAPI",
    "TicketAPI",
    "TradingBot",
    "TravelAPI",
    "TwitterAPI",
    "VehicleControlAPI",
)
# The words of Python in the documents, as JSON Schema has them.
TYPES = {"dict": "object", "float": "number", "tuple": "array"}
# What a user says in a turn that brings a tool and no words.
NEW_TOOLS = "There are more tools now. Try again."


@dataclass(frozen=True)
class Call:
    """A gold call: as the data have it, and as a model makes it."""

    code: str
    owner: str
    name: str
    arguments: dict
    # Whether the arguments are what the published document of the function says. A few are not.
    fits: bool = True


@dataclass(frozen=True)
class Turn:
    words: str
    calls: list
    # The functions of the task that are kept back in this turn.
    missing: frozenset


@dataclass(frozen=True)
class Task:
    id: str
    classes: list
    config: dict
    turns: list

    @property
    def is_long(self):
        return "long_context" in self.id


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def documents():
    """The published function documents of each class, by name."""
    folder = DATA / "multi_turn_func_doc"
    return {
        owner: {doc["name"]: doc for doc in lines(folder / MULTI_TURN_FUNC_DOC_FILE_MAPPING[owner])}
        for owner in CLASSES
    }


def kind(owner):
    return getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[owner]), owner)


def schema(given):
    """The parameters of a document, which have the words of Python, as JSON Schema."""
    if isinstance(given, list):
        return [schema(each) for each in given]
    if not isinstance(given, dict):
        return given
    made = {key: schema(value) for key, value in given.items()}
    if isinstance(given.get("type"), str):
        made["type"] = TYPES.get(given["type"], given["type"])
    return made


def read_call(code, classes, docs):
    """A Python expression as name and arguments; what stands by its place gets its name."""
    made = ast.parse(code.strip(), mode="eval").body
    name = made.func.id
    [owner] = [owner for owner in classes if name in docs[owner]]
    places = [name for name in inspect.signature(getattr(kind(owner), name)).parameters][1:]
    arguments = dict(zip(places, map(ast.literal_eval, made.args)))
    arguments |= {each.arg: ast.literal_eval(each.value) for each in made.keywords}
    judge = Draft202012Validator(schema(docs[owner][name]["parameters"]))
    return Call(code, owner, name, arguments, judge.is_valid(arguments))


def read_task(entry, gold, docs):
    classes = entry["involved_classes"]
    missed = {int(turn): names for turn, names in entry.get("missed_function", {}).items()}
    turns = []
    for number, (said, codes) in enumerate(zip(entry["question"], gold, strict=True)):
        words = "\n".join(message["content"] for message in said) or NEW_TOOLS
        later = (names for turn, names in missed.items() if turn > number)
        missing = frozenset(entry.get("excluded_function", [])).union(*later)
        calls = [read_call(code, classes, docs) for code in codes]
        # One gold call of all is of a function that its own task still keeps back.
        missing = missing.difference(call.name for call in calls)
        turns.append(Turn(words, calls, missing))
    return Task(entry["id"], classes, entry["initial_config"], turns)


def read_tasks(docs):
    for name in SETS:
        file = f"BFCL_v4_multi_turn_{name}.json"
        golds = {gold["id"]: gold["ground_truth"] for gold in lines(DATA / "possible_answer" / file)}
        for entry in lines(DATA / file):
            yield read_task(entry, golds[entry["id"]], docs)


def new_instances(task):
    """Its classes as they are before the first turn."""
    instances = {}
    for owner in task.classes:
        instances[owner] = kind(owner)()
        if owner not in STATELESS_CLASSES:
            config = deepcopy(task.config.get(owner, {}))
            instances[owner]._load_scenario(config, long_context=task.is_long)
    return instances


class Direct:
    """The same task by the executor of the benchmark, with instances of its own."""

    def __init__(self, task, name):
        self.task, self.name = task, name

    def run(self, calls):
        """The results of some calls, and the instances after them."""
        return multi_turn_utils.execute_multi_turn_func_call(
            [call.code for call in calls],
            self.task.config,
            self.task.classes,
            self.name,
            self.task.id,
            long_context=self.task.is_long,
        )

    def forget(self):
        # The executor keeps its instances among the names of its module.
        names = vars(multi_turn_utils)
        for name in [name for name in names if name.startswith(f"{self.name}_{self.task.id}_")]:
            del names[name]


def same_state(one, other):
    """By the checker of the benchmark, and by the random numbers that would come next."""

    def dice(instance):
        return instance._random.getstate() if hasattr(instance, "_random") else None

    same_dice = all(dice(one[owner]) == dice(other[owner]) for owner in other)
    return same_dice and state_checker(one, other)["valid"]
