# Blocks of sizes that nobody else asks for, by functions whose names are known, and through an exception.
proc c_malloc(size: csize_t): pointer {.importc: "malloc", header: "<stdlib.h>".}
proc c_free(block_of: pointer) {.importc: "free", header: "<stdlib.h>".}

# Seen by all, or a compiler leaves the block out.
var seen {.volatile, exportc.}: pointer

proc innermost(size: int): int {.noinline, exportc.} =
  let made = c_malloc(csize_t(size))
  seen = made
  c_free(made)
  return size

proc between(size: int): int {.noinline, exportc.} =
  return innermost(size) + 1

proc by_main(): int {.noinline, exportc.} =
  for i in 0 ..< 30:
    result += between(70_001)

proc thrower(depth: int): int {.noinline, exportc.} =
  discard between(70_005)
  if depth == 0:
    raise newException(ValueError, "thrown")
  result = thrower(depth - 1) + 1

var caught = 0
let sum = by_main()
for i in 0 ..< 5:
  try:
    caught += thrower(3)
  except ValueError:
    inc caught
echo "sum ", sum, " caught ", caught
