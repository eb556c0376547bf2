//! Below which life blocks are left out.

use super::Told;

#[test]
fn what_is_culled_is_a_time_or_a_switch() {
    const MS: u64 = 1_000_000;
    let cases = [
        ("1", 10 * MS),
        ("off", 0),
        ("10ms", 10 * MS),
        ("500us", MS / 2),
        ("1.5s", 1500 * MS),
        ("0.010000000s", 10 * MS),
        ("2m", 120_000 * MS),
    ];
    for (value, ns) in cases {
        let told = Told::by(&[("MEMLOG_CULL", value)]);
        assert_eq!(told.value("cull"), ns.to_string(), "{value}");
        assert_eq!(told.value("nonsense"), "", "{value}");
    }
    for value in ["10", "ms", "10 ms", "-1s", "1h", "99999999999999s"] {
        let told = Told::by(&[("MEMLOG_CULL", value)]);
        assert_eq!(told.value("cull"), "0", "{value}");
        assert!(told.value("nonsense").contains("MEMLOG_CULL"), "{value}");
    }
}

/// And bytehound's words for it; ours come first.
#[test]
fn bytehounds_threshold_is_understood() {
    const ON: (&str, &str) = ("MEMORY_PROFILER_CULL_TEMPORARY_ALLOCATIONS", "1");
    const BELOW: &str = "MEMORY_PROFILER_TEMPORARY_ALLOCATION_LIFETIME_THRESHOLD";
    const PENDING: (&str, &str) = (
        "MEMORY_PROFILER_TEMPORARY_ALLOCATION_PENDING_THRESHOLD",
        "65536",
    );
    let cases: [(&[(&str, &str)], u64); 5] = [
        (&[ON], 10_000),
        (&[ON, (BELOW, "20"), PENDING], 20),
        (&[(BELOW, "20")], 0),
        (&[ON, ("MEMLOG_CULL", "3ms")], 3),
        (&[("MEMLOG_CULL", "0"), ON], 0),
    ];
    for (environment, ms) in cases {
        let told = Told::by(environment);
        let ns = ms * 1_000_000;
        assert_eq!(told.value("cull"), ns.to_string(), "{environment:?}");
        assert_eq!(told.value("nonsense"), "", "{environment:?}");
    }
}
