//! Names of files as scripts say them.

use std::path::{Component, Path, PathBuf};

/// Bytes of a name, at most.
const MOST: usize = 1024;

/// A name below a folder, of which nothing leads out. `Err` is a sentence.
pub(crate) fn below(folder: &Path, name: &str) -> Result<PathBuf, String> {
    if name.is_empty() || name.len() > MOST {
        return Err(format!("a name has 1 to {MOST} bytes"));
    }
    if name.contains(char::is_control) {
        return Err("a name has no control characters".to_owned());
    }
    let mut path = folder.to_owned();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                return Err(format!(
                    "`{name}`: files are written below the chosen folder, so that no `..` is in their names"
                ));
            }
            Component::RootDir | Component::Prefix(_) => {
                return Err(format!(
                    "`{name}`: files are written below the chosen folder, so that their names do not begin with /"
                ));
            }
        }
    }
    if path.as_os_str().len() > MOST {
        return Err(format!(
            "a name has 1 to {MOST} bytes, with the folders above"
        ));
    }
    Ok(path)
}

/// The folder that a name is in.
pub(crate) fn dirname(name: &str) -> String {
    let parent = Path::new(name).parent().and_then(Path::to_str);
    parent.unwrap_or(".").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out() {
        let below = |name: &str| below(Path::new("a"), name);
        assert_eq!(below("b/./c.svg"), Ok(PathBuf::from("a/b/c.svg")));
        assert_eq!(below("."), Ok(PathBuf::from("a")));
        for name in ["..", "b/../../c", "/etc/x", "", "a\nb", "a\0b"] {
            assert!(below(name).is_err(), "{name}");
        }
        assert!(below(&"x".repeat(2000)).is_err());
        assert_eq!(dirname("a/b.rhai"), "a");
        assert_eq!(dirname("b.rhai"), "");
        assert_eq!(dirname("/"), ".");
    }
}
