//! The doors by number: the order of `doors.h`, in which the assembly finds
//! the real functions. The build makes all of it of that list.

#[cfg(test)]
use memlog_format::api::Api;

include!(concat!(env!("OUT_DIR"), "/doors.rs"));

// The table of real functions, `memlog_reals` of `words.h`.
const _: () = assert!(COUNT <= 64);

#[cfg(test)]
mod tests {
    use super::{APIS, NAMES};
    use memlog_format::api::{self, Api};

    /// mmap64 is mmap by another name.
    #[test]
    fn the_log_has_each_door_by_its_name() {
        for (door, api) in APIS {
            let name = std::str::from_utf8(NAMES[*door as usize]).unwrap();
            assert_eq!(api.name(), name.trim_end_matches("64"));
        }
    }

    #[test]
    fn each_entry_point_of_the_log_has_a_door_or_is_an_operator() {
        for (api, name) in api::NAMES {
            let is_operator =
                [Api::New, Api::NewArray, Api::Delete, Api::DeleteArray].contains(&api);
            let doors = APIS.iter().filter(|(_, of)| *of == api).count();
            assert_eq!(doors == 0, is_operator, "{name}");
        }
    }
}
