//! `record --gdb` and `--perf`: the program runs with the recorder in it, and gdb or perf
//! without.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use super::program::search;

/// What the program is started by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Under {
    /// gdb, at its prompt: `run` starts the program.
    Gdb,
    /// perf, which samples it with its stacks.
    Perf,
}

impl Under {
    /// What its command is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gdb => "gdb",
            Self::Perf => "perf",
        }
    }

    /// Whether it is there.
    pub fn check(self) -> anyhow::Result<()> {
        search(OsStr::new(self.name())).map(drop)
    }

    /// The same program started by it. What was put into its environment comes by `env`,
    /// so that only the program gets it.
    pub fn start(self, program: &Command) -> Command {
        let settings = program.get_envs().filter_map(|(name, value)| {
            let mut setting = name.to_owned();
            setting.push("=");
            setting.push(value?);
            Some(setting)
        });
        let mut command = Command::new(self.name());
        match self {
            Self::Gdb => {
                let words: Vec<_> = settings.map(|setting| quoted(&setting)).collect();
                let mut wrapper = OsString::from("set exec-wrapper env ");
                wrapper.push(OsStr::from_bytes(&words.join(&b' ')));
                command.arg("-ex").arg(wrapper);
                if let Some(file) = installed_commands() {
                    let mut source = OsString::from("source ");
                    source.push(file);
                    command.arg("-ex").arg(source);
                }
                command.arg("--args");
            }
            Self::Perf => {
                command.args(["record", "-g", "--", "env"]).args(settings);
            }
        }
        command.arg(program.get_program()).args(program.get_args());
        command
    }
}

/// gdb's commands `memlog who` and so on, where memlog is installed.
fn installed_commands() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let prefix = own.parent()?.parent()?;
    let file = prefix.join("share/memlog/debugger/memlog_debugger.py");
    file.is_file().then_some(file)
}

/// A word for the shell that gdb starts programs by.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = vec![b'\''];
    for &byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend(b"'\\''"),
            byte => text.push(byte),
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for word in ["A=plain", "A=a b", "A=it's; rm $HOME `x` \"y\" \\", "A="] {
            let mut script = b"printf %s ".to_vec();
            script.extend(quoted(OsStr::new(word)));
            let said = Command::new("sh")
                .arg("-c")
                .arg(OsStr::from_bytes(&script))
                .output();
            assert_eq!(said.expect("sh").stdout, word.as_bytes());
        }
    }

    #[test]
    fn only_the_program_gets_the_settings() {
        let mut program = Command::new("/bin/solver");
        program.args(["-n", "3"]).env("LD_PRELOAD", "/x y/lib.so");
        let words = |under: Under| {
            let command = under.start(&program);
            assert_eq!(command.get_envs().count(), 0);
            let words = command
                .get_args()
                .map(|word| word.to_string_lossy().into_owned());
            words.collect::<Vec<_>>()
        };
        let wrapper = "set exec-wrapper env 'LD_PRELOAD=/x y/lib.so'";
        assert_eq!(
            words(Under::Gdb),
            ["-ex", wrapper, "--args", "/bin/solver", "-n", "3"]
        );
        assert_eq!(
            words(Under::Perf),
            [
                "record",
                "-g",
                "--",
                "env",
                "LD_PRELOAD=/x y/lib.so",
                "/bin/solver",
                "-n",
                "3"
            ]
        );
    }
}
