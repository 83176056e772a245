//! How stacks are found: frame pointers or unwind tables, by what trials of both found whole.

use rqps_stacks::profile::Unwind;

/// Share of the stacks that must be whole for frame pointers to do. Where the C library has none, a
/// server with them loses what it does in system calls: 10 to 17% of the samples of a point query.
const WHOLE_ENOUGH: f64 = 0.95;

/// Whether frame pointers leave something to be wished on a system.
pub(crate) fn wants_tables(by_pointers: &[Option<f64>]) -> bool {
    by_pointers.iter().flatten().any(|share| *share < WHOLE_ENOUGH)
}

/// The way whose worst system has more whole stacks, of those where both were tried. Copies of a very deep
/// stack may be cut short, and then they are no better.
pub(crate) fn better(by_pointers: &[Option<f64>], by_tables: &[Option<f64>]) -> Unwind {
    let both = || by_pointers.iter().zip(by_tables).filter_map(|(p, t)| Some(((*p)?, (*t)?)));
    let worst = |shares: &mut dyn Iterator<Item = f64>| shares.fold(f64::INFINITY, f64::min);
    let (pointers, tables) =
        (worst(&mut both().map(|(p, _)| p)), worst(&mut both().map(|(_, t)| t)));
    if tables > pointers { Unwind::Dwarf } else { Unwind::FramePointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_all_systems_chooses_and_one_that_failed_has_no_say() {
        let pointers = [Some(0.99), None, Some(0.85)];
        assert!(wants_tables(&pointers) && !wants_tables(&[Some(0.95), None]));
        assert!(!wants_tables(&[None, None]));
        assert_eq!(better(&pointers, &[Some(0.9), Some(0.1), Some(0.97)]), Unwind::Dwarf);
        assert_eq!(better(&pointers, &[Some(0.8), Some(1.0), Some(1.0)]), Unwind::FramePointer);
        assert_eq!(better(&pointers, &[Some(1.0), Some(1.0), None]), Unwind::Dwarf);
        assert_eq!(better(&pointers, &[None, Some(1.0), None]), Unwind::FramePointer);
    }
}
