//! Fortran names, which no two compilers mangle alike.
//!
//! ```text
//! gfortran   __mod_MOD_proc                 mod::proc
//! ifort/ifx  mod_mp_proc_                   mod::proc
//! Cray       proc$mod_                      mod::proc
//! flang      _QMmodPproc _QPproc            mod::proc, proc
//!            _QMmodSsubFhostPinner          mod::sub::host::inner
//! all        proc_                          proc, if known to be Fortran
//! ```
//! nvfortran's `mod_proc_` cannot be told from a procedure of that name.

/// The qualified name, if the name could only be Fortran's.
pub(super) fn demangle(name: &str) -> Option<String> {
    if name == "MAIN__" || name == "_QQmain" {
        return Some("MAIN".to_owned());
    }
    if let Some(rest) = name.strip_prefix("_Q") {
        return flang(rest);
    }
    if let Some(rest) = name.strip_prefix("__") {
        let (module, procedure) = rest
            .split_once("_MOD_")
            .or_else(|| rest.split_once("_SMOD_"))?;
        return pair(module, procedure);
    }
    let stem = name.strip_suffix('_')?;
    if let Some((module, procedure)) = stem.split_once("_mp_") {
        return pair(module, procedure);
    }
    let (procedure, module) = stem.split_once('$')?;
    pair(module, procedure)
}

/// The name of a procedure outside modules, in code known to be Fortran.
pub(super) fn external(name: &str) -> Option<String> {
    let stem = name.strip_suffix('_')?;
    // f2c and g77 add two where the name has one inside.
    let stem = match stem.strip_suffix('_') {
        Some(shorter) if shorter.contains('_') => shorter,
        _ => stem,
    };
    is_name(stem).then(|| stem.to_owned())
}

/// Whether a symbol is only ever seen with Fortran.
pub(super) fn is_sure_sign(name: &[u8]) -> bool {
    const STARTS: [&[u8]; 5] = [
        b"MAIN__",
        b"_gfortran_",
        b"_QQ",
        b"_Fortran",
        b"for_write_seq",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
        || (name.starts_with(b"__") && name.windows(5).any(|part| part == b"_MOD_"))
}

fn pair(module: &str, procedure: &str) -> Option<String> {
    (is_name(module) && is_name(procedure)).then(|| format!("{module}::{procedure}"))
}

/// Letters, digits and underscores; compiler-made procedures start with underscores and carry
/// derived types with a capital. Submodules have a dot in their name.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
}

/// Flang writes each scope as a capital and a name in small letters.
fn flang(mut rest: &str) -> Option<String> {
    let mut scopes = Vec::new();
    loop {
        let kind = rest.chars().next()?;
        if !matches!(kind, 'M' | 'S' | 'F' | 'P') {
            return None;
        }
        rest = &rest[1..];
        let end = rest
            .find(|c: char| c.is_ascii_uppercase())
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if !is_name(name) {
            return None;
        }
        scopes.push(name);
        rest = after;
        if rest.is_empty() {
            return (kind == 'P').then(|| scopes.join("::"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compiler() {
        let table = [
            ("__solver_MOD_grow", "solver::grow"),
            (
                "__solver_MOD___copy_solver_Grid",
                "solver::__copy_solver_Grid",
            ),
            ("solver_mp_grow_", "solver::grow"),
            ("grow$solver_", "solver::grow"),
            ("_QMsolverPgrow", "solver::grow"),
            ("_QPgrow", "grow"),
            ("_QFgrowPinner", "grow::inner"),
            ("_QMsolverSpartFgrowPinner", "solver::part::grow::inner"),
            ("_QQmain", "MAIN"),
            ("MAIN__", "MAIN"),
        ];
        for (raw, expected) in table {
            assert_eq!(demangle(raw).as_deref(), Some(expected), "{raw}");
        }
        for raw in [
            "_Q",
            "_QM",
            "_QPé",
            "__MOD_",
            "___",
            "_",
            "grow_",
            "__libc_start_main",
            "_QMsolver",
        ] {
            assert_eq!(demangle(raw), None, "{raw}");
        }
    }

    #[test]
    fn outside_modules() {
        assert_eq!(external("grow_").as_deref(), Some("grow"));
        assert_eq!(external("grow_all_").as_deref(), Some("grow_all"));
        assert_eq!(external("grow_all__").as_deref(), Some("grow_all"));
        assert_eq!(external("main"), None);
        assert_eq!(external("_"), None);
    }
}
