//! The page for who has not shown the token: it holds no result, and a script that fetches the page of the address.

use maud::{DOCTYPE, html};

use crate::reply::Reply;

/// The page, the same for every address.
pub(crate) fn page() -> Reply {
    Reply::locked(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "rqps" }
                link rel="stylesheet" href="/static/report.css";
                link rel="stylesheet" href="/static/serve.css";
                script src="/static/unlock.js" defer {}
            }
            body {
                main.problem {
                    h1 { "Token needed" }
                    p.verdict #said role="status" {
                        "Add #token=TOKEN to the address, with the token that the server was started with."
                    }
                    p.hint {
                        "This takes JavaScript. Programs send the header Authorization: Bearer TOKEN."
                    }
                }
            }
        }
    })
}
