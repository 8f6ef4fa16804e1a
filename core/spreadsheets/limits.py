"""What a file may be. The child process enforces these, the pages name them."""

MAX_BYTES = 10 * 1024 * 1024
MAX_ROWS = 200_000  # with something in them, the header not counted
MAX_COLUMNS = 100
MAX_CELLS = 6_000_000  # rows times columns: the reader holds the whole rectangle
MAX_LINES = 1_048_576  # of a csv, empty ones included: as many as a sheet has
MAX_CELL_TEXT = 5_000
MAX_FIELD = 131_072  # of a csv before it is called an unclosed quote

MAX_ENTRIES = 1_000
MAX_UNPACKED = 160 * 1024 * 1024
MAX_RATIO = 100  # of one entry, once it is larger than RATIO_FREE
RATIO_FREE = 4 * 1024 * 1024

CHILD_MEMORY = 1_536 * 1024 * 1024
CHILD_CPU_SECONDS = 40
CHILD_OUTPUT = 512 * 1024 * 1024
CHILD_WALL_SECONDS = 60
