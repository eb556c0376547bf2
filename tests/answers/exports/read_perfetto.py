# What: what Perfetto's importer would make of a trace, as JSON; its messages are Perfetto's own. 77: they are not here.
# Run:  python3 read_perfetto.py TRACE
import json
import sys

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
except ImportError:
    print("there is no perfetto (pip install perfetto)")
    sys.exit(77)


def known(message):
    assert len(UnknownFieldSet(message)) == 0, message
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if hasattr(value, "append") or hasattr(value, "add") else [value]:
                known(part)


trace = Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())
known(trace)
assert trace.packet[0].sequence_flags == 1
assert {packet.trusted_packet_sequence_id for packet in trace.packet} == {1}
clocks = {clock.clock_id: clock.timestamp for clock in trace.packet[0].clock_snapshot.clocks}
# Dumps have times of MONOTONIC_COARSE, packets of BOOTTIME, and 1 is REALTIME.
start = clocks[4]
assert clocks[6] == clocks[3] == start > 0
strings, mappings, frames, stacks, sums, dumps = {0: ""}, {}, {}, {}, {}, []
tracks, counters, index, is_open = {}, {}, 0, True
for packet in trace.packet:
    assert packet.timestamp >= start
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        assert track.uuid not in tracks
        tracks[track.uuid] = track
    if packet.HasField("track_event"):
        event = packet.track_event
        assert event.type == event.TYPE_COUNTER
        name = tracks[event.track_uuid].name
        points = counters.setdefault(name, [])
        assert not points or points[-1][0] <= packet.timestamp - start
        points.append([packet.timestamp - start, event.counter_value])
    if not packet.HasField("profile_packet"):
        continue
    profile = packet.profile_packet
    assert is_open and profile.index == index
    index, is_open = index + 1, profile.continued
    for string in profile.strings:
        assert string.iid not in strings
        strings[string.iid] = string.str.decode()
    for mapping in profile.mappings:
        path = "".join("/" + strings[part] for part in mapping.path_string_ids)
        mappings[mapping.iid] = path[1:] if path.startswith("//") else path
    for frame in profile.frames:
        place = (mappings[frame.mapping_id], frame.rel_pc)
        frames[frame.iid] = {"function": strings[frame.function_name_id], "place": place}
    for stack in profile.callstacks:
        assert stack.frame_ids and stack.iid not in stacks
        stacks[stack.iid] = [frames[frame] for frame in stack.frame_ids]
    for dump in profile.process_dumps:
        for sample in dump.samples:
            now = (sample.self_allocated, sample.alloc_count, sample.self_freed, sample.free_count)
            before = sums.get(sample.callstack_id, (0, 0, 0, 0))
            assert sample.callstack_id in stacks and all(a <= b for a, b in zip(before, now))
            sums[sample.callstack_id] = now
        rows = [[[frame["function"] for frame in stacks[stack]], *now] for stack, now in sums.items()]
        assert not dumps or dumps[-1]["ns"] <= dump.timestamp - start
        dumps.append({"ns": dump.timestamp - start, "pid": dump.pid, "heap": dump.heap_name, "rows": rows})
assert not is_open
places, lines = {frame["place"]: frame["function"] for frame in frames.values()}, []
assert len(places) == len(frames)
for packet in trace.packet:
    if packet.HasField("module_symbols"):
        for symbols in packet.module_symbols.address_symbols:
            (line,) = symbols.lines
            assert places[packet.module_symbols.path, symbols.address] == line.function_name
            lines.append([line.function_name, line.source_file_name, line.line_number])
process = next(track.process for track in tracks.values() if track.HasField("process"))
print(json.dumps({
    "dumps": dumps, "counters": counters, "lines": lines, "start": clocks[1],
    "process": [process.pid, process.process_name],
}))
