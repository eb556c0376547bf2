//! Variables that the recorder would not understand. In a program that runs it
//! can but go on without them and say so in the log; here nothing runs yet.

use std::ffi::{OsStr, OsString};

use memlog_pages::{Advice, shown};

use super::window::{self, is_seconds, signal_of};
use super::{SIZE, bytes_of};

/// Longest value that the recorder keeps.
const LONGEST: usize = 2048;

/// A variable, whether the recorder understands a value of it, and what it
/// would have understood.
struct Setting {
    name: &'static str,
    is_understood: fn(&str) -> bool,
    expected: &'static str,
}

const SWITCH: &str = "expected 1 or 0, yes or no, on or off, true or false";

const SETTINGS: [Setting; 19] = [
    Setting {
        name: "MEMLOG_MAX_LOG",
        is_understood: |text| bytes_of(text).is_ok(),
        expected: SIZE,
    },
    Setting {
        name: "MEMLOG_MAX_LOGS_TOTAL",
        is_understood: |text| bytes_of(text).is_ok(),
        expected: SIZE,
    },
    Setting {
        name: "MEMLOG_FLIGHT_RECORDER",
        is_understood: |text| is_switch(text) || bytes_of(text).is_ok(),
        expected: SIZE,
    },
    Setting {
        name: "MEMLOG_CULL",
        is_understood: |text| is_switch(text) || is_short_time(text),
        expected: "expected a time such as 10ms, 500us or 1.5s, or 1 for 10ms",
    },
    Setting {
        name: "MEMLOG_OOM_GUARD",
        is_understood: is_guard,
        expected: "expected a percentage below 100, or one and ,stop, such as 5,stop",
    },
    Setting {
        name: "MEMLOG_RANKS",
        is_understood: is_list,
        expected: "expected ranks such as 0,17-20",
    },
    Setting {
        name: "MEMLOG_ONLY",
        is_understood: |_| true,
        expected: "expected names or paths of programs with colons between them",
    },
    Setting {
        name: "MEMLOG_FREE_STACKS",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_RSS_DETAIL",
        is_understood: |text| ["off", "auto", "always"].contains(&text),
        expected: "expected off, auto or always",
    },
    Setting {
        name: "MEMLOG_FINE_TIME",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_KEEP_ENVIRONMENT",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_FOLLOW_EXEC",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_VERIFY",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_OFF",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_START_DISABLED",
        is_understood: is_switch,
        expected: SWITCH,
    },
    Setting {
        name: "MEMLOG_AFTER",
        is_understood: |text| is_seconds(text.strip_prefix('@').unwrap_or(text)),
        expected: "expected seconds such as 90 or 0.5",
    },
    Setting {
        name: "MEMLOG_FOR",
        is_understood: is_seconds,
        expected: "expected seconds such as 90 or 0.5",
    },
    Setting {
        name: "MEMLOG_SIGNALS",
        is_understood: |text| text.split(',').all(|one| signal_of(one).is_ok()),
        expected: window::EXPECTED,
    },
    Setting {
        name: "MEMLOG_SINK",
        is_understood: |text| ["written", "mapped"].contains(&text),
        expected: "expected written or mapped",
    },
];

/// Refuses a value that would not be understood. Names are not looked at: the
/// recorder may be newer or older than what set them, and notes those it does
/// not know. An option stands before its variable, whatever that says.
pub fn check(has_option: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    check_in(has_option, |name| std::env::var_os(name))
}

fn check_in(
    has_option: impl Fn(&str) -> bool,
    environment: impl Fn(&str) -> Option<OsString>,
) -> anyhow::Result<()> {
    for setting in SETTINGS {
        let name = setting.name;
        // Set but empty is as good as not set.
        let value = environment(name).filter(|value| !value.is_empty());
        let Some(value) = value.filter(|_| !has_option(name)) else {
            continue;
        };
        if !understands(&setting, &value) {
            return Err(Advice::error(
                format!(
                    "{name}={} is not understood: {}",
                    shown(&value),
                    setting.expected
                ),
                format!("set it to that, or `unset {name}`"),
            ));
        }
    }
    Ok(())
}

fn understands(setting: &Setting, value: &OsStr) -> bool {
    let text = value.to_str().filter(|text| text.len() <= LONGEST);
    text.is_some_and(setting.is_understood)
}

fn is_switch(text: &str) -> bool {
    let words = ["1", "true", "yes", "on", "0", "false", "no", "off"];
    words.contains(&text)
}

/// A number and one of the units that the recorder knows.
fn is_short_time(text: &str) -> bool {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = text.strip_suffix(unit).unwrap_or(text);
    is_seconds(number) && ["m", "s", "ms", "us"].contains(&unit)
}

/// 0 watches nothing, which takes a variable back that a site has set.
fn is_guard(text: &str) -> bool {
    let percent = text.strip_suffix(",stop").unwrap_or(text);
    let percent = percent.strip_suffix('%').unwrap_or(percent);
    number(percent).is_some_and(|percent| percent < 100)
}

fn is_list(text: &str) -> bool {
    text.split(',').all(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) => first <= last,
            _ => false,
        }
    })
}

/// Digits alone: Rust takes a sign as well.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> Option<String> {
        let environment = |asked: &str| (asked == name).then(|| value.into());
        let error = check_in(|_| false, environment).err();
        error.map(|error| error.to_string())
    }

    #[test]
    fn what_is_understood_passes() {
        for (name, value) in [
            ("MEMLOG_MAX_LOG", "2GiB"),
            ("MEMLOG_MAX_LOG", ""),
            ("MEMLOG_FLIGHT_RECORDER", "on"),
            ("MEMLOG_FLIGHT_RECORDER", "64M"),
            ("MEMLOG_CULL", "1"),
            ("MEMLOG_CULL", "1.5ms"),
            ("MEMLOG_CULL", "0.010000000s"),
            ("MEMLOG_OOM_GUARD", "0"),
            ("MEMLOG_OOM_GUARD", "5%,stop"),
            ("MEMLOG_RANKS", "0,17-20"),
            ("MEMLOG_OFF", "yes"),
            ("MEMLOG_SINK", "written"),
            ("MEMLOG_NO_SUCH", "x"),
        ] {
            assert_eq!(refused(name, value), None, "{name}={value}");
        }
    }

    #[test]
    fn what_is_not_is_named_with_its_value() {
        let long = "0,".repeat(1100) + "0";
        for (name, value) in [
            ("MEMLOG_MAX_LOG", "foo"),
            ("MEMLOG_FLIGHT_RECORDER", "round"),
            ("MEMLOG_CULL", "10"),
            ("MEMLOG_CULL", "10 ms"),
            ("MEMLOG_CULL", "ms"),
            ("MEMLOG_OOM_GUARD", "100"),
            ("MEMLOG_RANKS", "zz"),
            ("MEMLOG_RANKS", "20-17"),
            ("MEMLOG_RANKS", "+1"),
            ("MEMLOG_RANKS", long.as_str()),
            ("MEMLOG_FOLLOW_EXEC", "17"),
            ("MEMLOG_SINK", "kitchen"),
        ] {
            let said = refused(name, value).expect(value);
            let expected = format!("{name}={value} is not understood: expected ");
            assert!(said.starts_with(&expected), "{said}");
        }
    }

    #[test]
    fn an_option_stands_before_its_variable() {
        let environment = |name: &str| (name == "MEMLOG_MAX_LOG").then(|| "foo".into());
        assert!(check_in(|name| name == "MEMLOG_MAX_LOG", environment).is_ok());
    }
}
