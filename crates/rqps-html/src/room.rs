//! The room that a page has for what it carries beside its text: charts' data, other bases, raw data.

/// Largest page without flame graphs, bytes.
pub(super) const LIMIT: usize = 1_500_000;

/// Least room, whatever the page takes without it: even a page of a thousand steps takes other bases.
const LEAST: usize = 60_000;

/// What is left of a page's room.
#[derive(Debug)]
pub(super) struct Room(usize);

impl Room {
    /// The room beside `taken` bytes.
    pub(super) fn beside(taken: usize) -> Self {
        Self(LIMIT.saturating_sub(taken).max(LEAST))
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.0
    }

    /// Takes the room for a text; `None` where it has none.
    pub(super) fn take(&mut self, text: String) -> Option<String> {
        self.0 = self.0.checked_sub(text.len())?;
        Some(text)
    }

    /// Gives back the room of a text that was taken.
    pub(super) fn give(&mut self, text: &str) {
        self.0 += text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_once() {
        let mut room = Room::beside(LIMIT - 400_000);
        assert!(room.take("x".repeat(300_000)).is_some());
        assert!(room.take("x".repeat(200_000)).is_none());
        assert_eq!(room.left(), 100_000);
        room.give(&"x".repeat(100_000));
        assert!(room.take("x".repeat(200_000)).is_some());
        assert_eq!(room.left(), 0);
        assert_eq!(Room::beside(2 * LIMIT).left(), LEAST);
    }
}
