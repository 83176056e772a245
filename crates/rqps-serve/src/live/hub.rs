//! One watcher per run that is followed, however many browsers follow it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use super::view::Parts;
use super::watcher::Watcher;

/// How often a run is looked at: what it tells changes as often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is known of the runs that are followed.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    followed: Mutex<HashMap<String, watch::Sender<Arc<Parts>>>>,
}

impl Hub {
    /// Follows a run in a directory of results; nothing is known of it before its first look.
    pub(crate) fn follow(
        self: &Arc<Self>,
        results: &Path,
        id: &str,
    ) -> watch::Receiver<Arc<Parts>> {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = followed.get(id) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(Arc::default());
        followed.insert(id.to_owned(), sender.clone());
        let watcher = Watcher::new(results.to_path_buf(), id.to_owned());
        tokio::spawn(look(Arc::clone(self), id.to_owned(), watcher, sender));
        receiver
    }

    /// Ends when nobody follows any more; tells whether it has.
    fn is_left(&self, id: &str, sender: &watch::Sender<Arc<Parts>>) -> bool {
        // Held over the question and its consequence, so that nobody begins to follow in between.
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_left = sender.receiver_count() == 0;
        if is_left {
            followed.remove(id);
        }
        is_left
    }
}

/// Looks at a run until it is over or nobody follows it.
async fn look(hub: Arc<Hub>, id: String, mut watcher: Watcher, sender: watch::Sender<Arc<Parts>>) {
    while !hub.is_left(&id, &sender) {
        let looked = tokio::task::spawn_blocking(move || {
            let parts = watcher.look().map(|seen| Parts::of(&seen));
            (watcher, parts)
        });
        let Ok((same, parts)) = looked.await else { break };
        watcher = same;
        // A store that is locked for the moment shows what was seen before.
        if let Ok(parts) = parts {
            let is_over = parts.is_over;
            sender.send_replace(Arc::new(parts));
            if is_over {
                break;
            }
        }
        sleep(LOOK_EVERY).await;
    }
    let mut followed = hub.followed.lock().unwrap_or_else(PoisonError::into_inner);
    if followed.get(&id).is_some_and(|known| known.same_channel(&sender)) {
        followed.remove(&id);
    }
}
