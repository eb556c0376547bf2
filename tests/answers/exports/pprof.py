"""Reads a profile of pprof, knowing nothing but gzip, protocol buffers and the numbers of
profile.proto's fields, and prints its sums and stacks as JSON."""
import gzip
import json
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        else:
            raise SystemExit(f"wire type {tag & 7}")
        yield tag >> 3, value


def numbers(value):
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def message(data):
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def one(found, number, usual=0):
    return found.get(number, [usual])[0]


profile = message(gzip.open(sys.argv[1]).read())
texts = [text.decode() for text in profile[6]]
assert texts[0] == ""
types = [texts[one(message(kind), 1)] for kind in profile[1]]
assert texts[one(profile, 14)] == "inuse_space"
mappings = {one(message(it), 1) for it in profile.get(3, [])}
functions = {one(f, 1): texts[one(f, 2)] for f in map(message, profile.get(5, []))}
places = {}
for location in map(message, profile.get(4, [])):
    assert one(location, 2) in mappings | {0}
    places[one(location, 1)] = [functions[one(message(line), 1)] for line in location[4]]
assert 0 not in places and 0 not in functions and 0 not in mappings
stacks, sums = [], [0] * len(types)
for sample in map(message, profile.get(2, [])):
    values = [value for part in sample[2] for value in numbers(part)]
    ids = [place for part in sample.get(1, []) for place in numbers(part)]
    assert len(values) == len(types)
    sums = [sum + value for sum, value in zip(sums, values)]
    labels = {texts[one(label, 1)]: texts[one(label, 2)] for label in map(message, sample.get(3, []))}
    stacks.append({"functions": [name for place in ids for name in places[place]], "values": values, "labels": labels})
print(json.dumps({"types": types, "sums": sums, "stacks": stacks}))
