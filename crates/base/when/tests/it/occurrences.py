"""Writes occurrences.txt: rules, a start, and what python-dateutil makes of them.

Run with python-dateutil installed: `python3 occurrences.py > occurrences.txt`.
Some rules are left out, since dateutil does not follow RFC 5545 there: by week number without a
day (it takes the whole week), weekdays with and without a number in one rule (it takes what is
both), places in weeks (it counts from the start in the first one), and the 53rd week where it
reaches into January (it takes the 2nd of January 2022 to be in one).
"""

import itertools
import random
from datetime import datetime

from dateutil.rrule import rrulestr

# The examples of RFC 5545, section 3.8.5.3, that repeat by days or longer.
STANDARD = [
    ("FREQ=DAILY;COUNT=10", "1997-09-02"),
    ("FREQ=DAILY;UNTIL=19971224", "1997-09-02"),
    ("FREQ=DAILY;INTERVAL=2", "1997-09-02"),
    ("FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02"),
    ("FREQ=YEARLY;UNTIL=20000131;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", "1998-01-01"),
    ("FREQ=DAILY;UNTIL=20000131;BYMONTH=1", "1998-01-01"),
    ("FREQ=WEEKLY;COUNT=10", "1997-09-02"),
    ("FREQ=WEEKLY;UNTIL=19971224", "1997-09-02"),
    ("FREQ=WEEKLY;INTERVAL=2;WKST=SU", "1997-09-02"),
    ("FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", "1997-09-02"),
    ("FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224;WKST=SU;BYDAY=MO,WE,FR", "1997-09-01"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", "1997-09-02"),
    ("FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "1997-09-05"),
    ("FREQ=MONTHLY;UNTIL=19971224;BYDAY=1FR", "1997-09-05"),
    ("FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "1997-09-07"),
    ("FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997-09-22"),
    ("FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09-28"),
    ("FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", "1997-09-02"),
    ("FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", "1997-09-30"),
    ("FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "1997-09-10"),
    ("FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", "1997-09-02"),
    ("FREQ=YEARLY;COUNT=10;BYMONTH=6,7", "1997-06-10"),
    ("FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", "1997-03-10"),
    ("FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "1997-01-01"),
    ("FREQ=YEARLY;BYDAY=20MO", "1997-05-19"),
    ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12"),
    ("FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "1997-03-13"),
    ("FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8", "1997-06-05"),
    ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1997-09-02"),
    ("FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", "1997-09-13"),
    ("FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "1996-11-05"),
    ("FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04"),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997-09-29"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997-08-05"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-08-05"),
    ("FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15"),
]

# What calendars get wrong: short months, leap days, week years, places, rules of no day.
ODD = [
    ("FREQ=MONTHLY", "2026-01-31"),
    ("FREQ=MONTHLY;BYMONTHDAY=-31", "2026-01-01"),
    ("FREQ=MONTHLY;INTERVAL=12", "2024-02-29"),
    ("FREQ=YEARLY", "2024-02-29"),
    ("FREQ=YEARLY;INTERVAL=3", "2024-02-29"),
    ("FREQ=YEARLY;BYYEARDAY=366", "2024-01-01"),
    ("FREQ=YEARLY;BYYEARDAY=-366", "2024-01-01"),
    ("FREQ=YEARLY;BYYEARDAY=-1,1", "2024-01-01"),
    ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO,WE", "2020-01-01"),
    ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO,SU", "2024-06-01"),
    ("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=TH,SU", "2024-06-01"),
    ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=SU,SA;WKST=SU", "2024-06-01"),
    ("FREQ=YEARLY;BYDAY=53TH", "2026-01-01"),
    ("FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3,10", "2026-01-01"),
    ("FREQ=MONTHLY;BYDAY=5MO", "2026-01-01"),
    ("FREQ=MONTHLY;BYMONTHDAY=29,30,31;BYSETPOS=-1", "2026-01-01"),
    ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "2026-01-01"),
    ("FREQ=YEARLY;BYMONTHDAY=13;BYDAY=FR;BYMONTH=2", "2026-01-01"),
    ("FREQ=DAILY;BYDAY=MO;BYMONTHDAY=29;BYMONTH=2", "2026-01-01"),
    ("FREQ=DAILY;INTERVAL=3;BYMONTHDAY=-1", "2026-01-01"),
    ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;BYMONTH=1,12", "2026-01-07"),
    ("FREQ=WEEKLY;BYDAY=SA,SU;BYSETPOS=2", "2026-01-07"),
    ("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1", "2026-01-07"),
    ("FREQ=DAILY;INTERVAL=7;BYDAY=TU", "2026-01-05"),
]


def by_chance(count):
    """Rules of random parts that the standard lets stand together."""
    chance = random.Random(5545)
    weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

    def some(items, most):
        return ",".join(str(item) for item in chance.sample(items, chance.randint(1, most)))

    for _ in range(count):
        frequency = chance.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
        parts = [f"FREQ={frequency}"]
        if chance.random() < 0.5:
            parts.append(f"INTERVAL={chance.randint(2, 5)}")
        if chance.random() < 0.3:
            parts.append(f"COUNT={chance.randint(1, 9)}")
        elif chance.random() < 0.3:
            parts.append(f"UNTIL=20{chance.randint(27, 40)}0{chance.randint(1, 9)}15")
        if chance.random() < 0.3:
            parts.append("BYMONTH=" + some(range(1, 13), 4))
        chosen = False
        if frequency != "WEEKLY" and chance.random() < 0.4:
            days = list(range(1, 32)) + list(range(-31, 0))
            parts.append("BYMONTHDAY=" + some(days, 6))
            chosen = True
        if chance.random() < 0.5:
            days = weekdays
            if frequency in ("MONTHLY", "YEARLY") and chance.random() < 0.5:
                days = [f"{nth}{day}" for nth in (1, 2, 3, 4, 5, -1, -2) for day in weekdays]
            parts.append("BYDAY=" + some(days, 4))
            chosen = True
        if chosen and frequency != "WEEKLY" and chance.random() < 0.3:
            parts.append("BYSETPOS=" + some([1, 2, 3, -1, -2], 2))
        if chance.random() < 0.3:
            parts.append("WKST=" + chance.choice(weekdays))
        start = datetime(2026, chance.randint(1, 12), chance.randint(1, 28))
        yield ";".join(parts), start.strftime("%Y-%m-%d")


def main():
    for rule, start in itertools.chain(STANDARD, ODD, by_chance(300)):
        # The bound keeps rules of no day from running on.
        last = datetime(2200, 1, 1)
        found = []
        for day in rrulestr(rule, dtstart=datetime.strptime(start, "%Y-%m-%d")):
            if day >= last or len(found) == 12:
                found.append(None)
                break
            found.append(day)
        ends = "" if found and found[-1] is None else " end"
        days = " ".join(day.strftime("%Y-%m-%d") for day in found if day)
        print(f"{rule}\t{start}\t{days}{ends}".rstrip())


main()
