"""memlog as users have it, for programs that run as somebody else."""

import shutil
import subprocess


def install(memlog, prefix):
    """Where programs that gave up root's rights can read the libraries as well; the command."""
    prefix.chmod(0o755)
    (prefix / "bin").mkdir()
    shutil.copy(memlog, prefix / "bin/memlog")
    subprocess.run([memlog, "artefacts", prefix / "lib"], check=True, stdout=subprocess.DEVNULL)
    for path in [prefix / "lib", *(prefix / "lib").iterdir()]:
        path.chmod(0o755)
    return str(prefix / "bin/memlog")
