//! The rules: which cause explains a major part of a change, beyond chance. docs/explanation/causes.md argues them.
//!
//! A gain is a loss with the sides swapped, so every rule is written once, for a loss. The file is
//! long because the rules are one chain: each applies where those before do not.

use rqps_model::{Metric, Slice, StepKind, Verdict};

use crate::cause::{Cause, Kind};
use crate::conclusion;
use crate::finding::Finding;
use crate::part::{Parts, TimePart, others_in_user_mode, server_run_wait_ns, stalled};
use crate::quantity::Quantity;
use crate::question::Question;
use crate::reason::Reason;
use crate::sides::{Sides, Start};
use crate::split::{Change, Split, barred};
use crate::work::Work;

/// The share of a change that its cause must explain: half again as much as all else together.
const MAJOR: f64 = 0.6;

/// The share that it must explain beyond chance: the 95% interval of what it changed, less this share
/// of the whole change, lies above 0. Where the client's CPU is counted with the server's, the share that
/// is the server's own.
const SURE: f64 = 1.0 / 3.0;

/// Of several parts that explain a change together, the least share of it that each makes up; each has grown beyond
/// chance besides.
const OF_SEVERAL: f64 = 0.2;

/// How much more of the host's CPU time other processes must have used in user mode, share of all, for
/// slices that were not interleaved: what they evict from caches and share of a core shows as CPU
/// of the server.
const OTHERS_MORE: f64 = 0.10;

/// The client threads' share of all waiting for a CPU from which on it is the client that is limited.
const OF_CLIENT: f64 = 2.0 / 3.0;

/// How many times the base's requests to storage must be for them to count as more.
const GROWN: f64 = 1.5;

/// The most that a request to storage takes, microseconds: a disk that seeks. So few that each would take
/// longer explain no waiting.
const REQUEST_US: f64 = 10_000.0;

/// The most CPU in the kernel that it takes to read a page from its page cache, microseconds: a system
/// call and a copy of 8 or 16 KB take 1 to 5 with caches cold.
const MISS_US: f64 = 5.0;

/// The share of the change that waiting for storage itself must make up for it to be the cause.
const OF_STORAGE: f64 = 1.0 / 3.0;

/// The share of the base's time with storage awaited from which on it need not grow: a device that is
/// awaited all the time can only be awaited longer.
const STALLED: f64 = 0.5;

/// How many times the base's rows or pages must be for an operation to be more work; as many times fewer
/// they may be for another plan.
const MORE_WORK: f64 = 1.2;

/// The most CPU that a row or page of the server's own cache takes, microseconds: a few more of them are
/// not what a statement's other CPU is for.
const WORK_US: f64 = 1.0;

/// The share of the growth of CPU that more rows or pages must make up, on the logarithmic scale and at
/// [`WORK_US`] each.
const OF_WORK: f64 = 0.5;

/// The cause of a verdict; `None` where the verdict is neither slower nor faster.
#[must_use]
pub fn judge(question: &Question<'_>) -> Option<Cause> {
    if !matches!(question.verdict, Verdict::Slower | Verdict::Faster) {
        return None;
    }
    let finding = if let Some(reason) = question.unlike.or_else(|| barred(question.sides)) {
        Finding::none(Some(reason))
    } else if let Some(split) = question.split {
        if question.verdict == Verdict::Faster {
            let mirrored = mirrored(question.sides);
            let found = Split::of(&mirrored, split.slots);
            found.map_or_else(|| Finding::none(None), |found| find(question, &mirrored, &found))
        } else {
            find(question, question.sides, split)
        }
    } else {
        Finding::none(Some(Reason::UnknownServer))
    };
    Some(conclusion::cause(question, finding))
}

/// Base and candidate changed over.
fn mirrored<'a>(sides: &Sides<'a>) -> Sides<'a> {
    let swap =
        |start: &Start<'a>| Start { base: start.candidate.clone(), candidate: start.base.clone() };
    Sides { starts: sides.starts.iter().map(swap).collect(), ..*sides }
}

/// The cause of what the candidate of `sides` loses.
fn find(question: &Question<'_>, sides: &Sides<'_>, split: &Split) -> Finding {
    if sides.is_interleaved && was_hit_more(sides, split) {
        return Finding::none(Some(Reason::TakenUnequally));
    }
    let own = Change::of(sides, &split.weights, |slice| split.own_us(sides, slice));
    let Some(own) = own.filter(Change::has_grown) else {
        return Finding::none(Some(Reason::UnequalSlices));
    };
    let loss = Loss { question, sides, split, loss_us: own.difference.point };
    loss.host()
        .or_else(|| loss.plan())
        .or_else(|| loss.storage())
        .or_else(|| loss.background())
        .or_else(|| loss.cpu())
        .or_else(|| loss.waiting())
        .or_else(|| loss.several())
        .unwrap_or_else(|| Finding::none(None))
}

/// Whether more than a third of the change, beyond chance, is CPU that others took from the candidate
/// beyond what they take from the base for each microsecond of CPU that it uses.
fn was_hit_more(sides: &Sides<'_>, split: &Split) -> bool {
    let cpu =
        |p: &Parts| p.get(TimePart::Server) + p.get(TimePart::Background) + p.get(TimePart::Client);
    let parts = |slice: &Slice| Parts::of(slice, split.slots, split.basis);
    let means = sides.means(&split.weights, |slice| Some(cpu(&parts(slice)?)));
    let of_base = means.map(|(base, _)| base);
    let taken = split.part(TimePart::Taken).map(|change| change.base);
    let Some((cpu_us, taken_us)) = of_base.zip(taken).filter(|(cpu_us, _)| *cpu_us > 0.0) else {
        return false;
    };
    let contrast = |slice: &Slice| {
        let p = parts(slice)?;
        Some(p.get(TimePart::Taken) - taken_us / cpu_us * cpu(&p) - SURE * p.total_us)
    };
    let taken = |slice: &Slice| Some(parts(slice)?.get(TimePart::Taken));
    let beyond = sides.contrast(&split.weights, contrast, taken);
    beyond.and_then(|found| found.interval).is_some_and(|(low, _)| low > 0.0)
}

/// Whether both sides do other amounts of work beyond chance.
fn is_other_work(change: &Change) -> bool {
    let is_beyond_chance = change.has_grown() || change.has_shrunk();
    let times = change.times().unwrap_or(f64::INFINITY);
    is_beyond_chance && (times >= MORE_WORK || times <= 1.0 / MORE_WORK)
}

/// A time that requests are to explain.
struct Explained {
    /// The time that each takes.
    each_us: f64,
    /// The least that all must take.
    least_us: f64,
}

/// A candidate that takes longer than its base.
struct Loss<'q> {
    question: &'q Question<'q>,
    sides: &'q Sides<'q>,
    split: &'q Split,
    /// The change that is to be explained, microseconds per operation.
    loss_us: f64,
}

impl Loss<'_> {
    fn parts(&self, slice: &Slice) -> Option<Parts> {
        Parts::of(slice, self.split.slots, self.split.basis)
    }

    fn change(&self, value: impl Fn(&Slice) -> Option<f64>) -> Option<Change> {
        Change::of(self.sides, &self.split.weights, value)
    }

    /// The share of the loss that a value of the parts explains, where that is a major one beyond
    /// chance.
    fn carries(&self, value: impl Fn(&Parts) -> f64) -> Option<f64> {
        let less = |share: f64| {
            let own = |p: &Parts| p.own_us(self.sides.is_interleaved);
            let of = |slice: &Slice| self.parts(slice).map(|p| value(&p) - share * own(&p));
            let part = |slice: &Slice| self.parts(slice).map(|p| value(&p));
            self.sides.contrast(&self.split.weights, of, part)
        };
        let (change, beyond) = (less(0.0)?, less(SURE)?);
        let share = change.point / self.loss_us;
        let is_sure = beyond.interval.is_some_and(|(low, _)| low > 0.0);
        (share >= MAJOR && is_sure).then_some(share)
    }

    /// The same of some parts together.
    fn carried_by(&self, parts: &[TimePart]) -> Option<f64> {
        self.carries(|p| parts.iter().map(|part| p.get(*part)).sum())
    }

    /// CPU that others took; where they had more of it and it is not the loss, that nothing else is proved.
    /// They take it from interleaved systems alike, and it is excluded.
    fn host(&self) -> Option<Finding> {
        if self.sides.is_interleaved {
            return None;
        }
        let others = self.change(others_in_user_mode);
        let has_grown = others.is_some_and(|c| c.has_grown());
        let had_more = has_grown && others.is_some_and(|c| c.difference.point >= OTHERS_MORE);
        // Others that use the same share of all time take more of an operation that is longer. Where
        // it is known how long the threads waited for a CPU that statements run in, that is told apart; all
        // threads of a server wait for one another as well.
        let basis = self.split.basis;
        let is_told_apart = basis.run_waits && basis.served_waits;
        let share = self.carried_by(&[TimePart::Taken]).filter(|_| is_told_apart || has_grown);
        let Some(share) = share else {
            return had_more.then(|| Finding::none(Some(Reason::OtherProcesses)));
        };
        let kind = if self.client_waits() { Kind::ClientLimited } else { Kind::HostLimited };
        Some(Finding::of(kind, &[TimePart::Taken], share))
    }

    /// Whether most of the waiting for a CPU that was added is that of client threads.
    fn client_waits(&self) -> bool {
        let added = |quantity| self.split.quantity(quantity).map(|c| c.difference.point.max(0.0));
        let basis = self.split.basis;
        let server = self.change(|slice| {
            let ns = server_run_wait_ns(slice, basis)?;
            (slice.n_operations > 0).then(|| ns as f64 / 1e3 / slice.n_operations as f64)
        });
        let server = server.map(|c| c.difference.point.max(0.0));
        match (added(Quantity::ClientThreadsRunWait), server) {
            (Some(client), Some(server)) => client > 0.0 && client >= OF_CLIENT * (client + server),
            _ => false,
        }
    }

    /// Another plan, where the server works or reads more for it.
    fn plan(&self) -> Option<Finding> {
        if !self.question.has_other_plan {
            return None;
        }
        let told = self.comparable(&[Quantity::Work(Work::Rows), Quantity::Work(Work::Pages)]);
        let mut known = told.iter().filter_map(|q| self.split.quantity(*q)).peekable();
        // A plan that touches as many rows and pages as the other is not where the time went.
        if known.peek().is_some() && !known.any(is_other_work) {
            return None;
        }
        let mut parts = vec![TimePart::Server, TimePart::Background];
        // Statements that read no more storage wait for something else.
        if self.has_grown(Quantity::Metric(Metric::Reads)) {
            parts.extend([TimePart::Storage, TimePart::Waiting]);
        }
        let share = self.carried_by(&parts)?;
        Some(Finding::of(Kind::PlanChange, &parts, share).with(told))
    }

    fn has_grown(&self, quantity: Quantity) -> bool {
        self.split.quantity(quantity).is_some_and(Change::has_grown)
    }

    /// Those of the server's counters that may be compared.
    fn comparable(&self, quantities: &[Quantity]) -> Vec<Quantity> {
        let is_comparable = self.question.is_comparable && !self.split.others_beside;
        quantities.iter().copied().filter(|_| is_comparable).collect()
    }

    /// How many more requests the candidate makes, where they are `least` times the base's and explain a time.
    fn more_requests(&self, quantity: Quantity, least: f64, explained: &Explained) -> Option<f64> {
        let change = self.split.quantity(quantity)?;
        let is_grown = change.times().is_none_or(|times| times >= least);
        let more = change.difference.point;
        (change.has_grown() && is_grown && more * explained.each_us >= explained.least_us)
            .then_some(more)
    }

    /// Whether storage is awaited in more of the time, or already was in most of the base's.
    fn stalls_more(&self) -> bool {
        let share = self.change(|slice| stalled(slice, self.split.basis));
        share.is_some_and(|share| share.has_grown() || share.base >= STALLED)
    }

    /// Reads and writes of storage, with the CPU that the kernel needs for them.
    fn storage(&self) -> Option<Finding> {
        self.awaited_storage().or_else(|| self.page_cache())
    }

    /// Pages that the server's own cache did not hold and the kernel's did: CPU of the kernel, as much
    /// as that many pages can take.
    fn page_cache(&self) -> Option<Finding> {
        let misses = self.comparable(&[Quantity::Work(Work::Misses)]);
        let more = misses.iter().find_map(|q| {
            self.more_requests(*q, GROWN, &Explained { each_us: MISS_US, least_us: 0.0 })
        })?;
        let share = self.carries(|p| p.kernel_us)?.min(more * MISS_US / self.loss_us);
        let finding = Finding::of(Kind::StorageReads, &[TimePart::Server], share).with(misses);
        (share >= MAJOR).then_some(finding)
    }

    /// Requests that storage is awaited for, with the CPU that the kernel needs for them.
    fn awaited_storage(&self) -> Option<Finding> {
        let share =
            self.carries(|p| p.get(TimePart::Storage) + p.get(TimePart::Waiting) + p.kernel_us)?;
        let parts = [TimePart::Storage, TimePart::Waiting];
        let awaited = self.split.part(TimePart::Storage)?;
        let awaited_us = awaited.difference.point;
        let is_awaited = self.stalls_more() && awaited_us >= OF_STORAGE * self.loss_us;
        let explained = Explained { each_us: REQUEST_US, least_us: awaited_us };
        let requests = |quantity, times| {
            let more = self.more_requests(quantity, times, &explained);
            more.filter(|_| is_awaited)
        };
        // What is done each second is spread over fewer operations when these are slower.
        let by_time = GROWN * self.split.total.times().unwrap_or(1.0).max(1.0);
        let device = Quantity::Metric(Metric::Reads);
        // Reads that the server's own threads asked for are the operations', at any rate.
        let any = Explained { each_us: 1.0, least_us: 0.0 };
        let own = self.more_requests(Quantity::ServerReadKb, GROWN, &any).is_some()
            && !self.split.others_beside;
        let reads = requests(device, if own { GROWN } else { by_time });
        let misses = Quantity::Work(Work::Misses);
        let missed = self.comparable(&[misses]).iter().find_map(|q| requests(*q, GROWN));
        let fsyncs = Quantity::Work(Work::Fsyncs);
        let writes = self.comparable(&[fsyncs]).into_iter().chain([Quantity::Writes]);
        let writes = writes.filter_map(|q| requests(q, by_time));
        let writes = writes.reduce(f64::max);
        let most_read = [reads, missed].into_iter().flatten().reduce(f64::max);
        match (most_read, writes) {
            (Some(read), written) if written.is_none_or(|w| read >= w) => {
                let mut told = vec![device, Quantity::Metric(Metric::ReadKb)];
                told.extend(self.comparable(&[misses]));
                Some(Finding::of(Kind::StorageReads, &parts, share).with(told))
            }
            (_, Some(_)) => {
                let is_read = self.question.kind == StepKind::Read;
                let kind = if is_read { Kind::BackgroundWork } else { Kind::StorageWrites };
                let mut told = vec![Quantity::Writes, Quantity::Metric(Metric::WrittenKb)];
                told.extend(self.comparable(&[fsyncs]));
                Some(Finding::of(kind, &parts, share).with(told))
            }
            _ => None,
        }
    }

    /// CPU of threads that serve nobody.
    fn background(&self) -> Option<Finding> {
        let parts = [TimePart::Background];
        Some(Finding::of(Kind::BackgroundWork, &parts, self.carried_by(&parts)?))
    }

    /// CPU of the server, or of both ends of the connection.
    fn cpu(&self) -> Option<Finding> {
        let change = |part| self.split.part(part);
        let (server, background) = (change(TimePart::Server)?, change(TimePart::Background)?);
        let least = SURE * self.loss_us;
        let of_server = server.difference.point;
        let of_all = of_server + background.difference.point;
        let alone =
            self.carried_by(&[TimePart::Server]).map(|share| (vec![TimePart::Server], share));
        let both = || {
            let parts = vec![TimePart::Server, TimePart::Client];
            let share = self.carried_by(&parts)?;
            (server.has_grown() && of_server >= least).then_some((parts, share))
        };
        let all = || {
            let parts = vec![TimePart::Server, TimePart::Background, TimePart::Client];
            let share = self.carried_by(&parts)?;
            (server.has_grown() && of_all >= least).then_some((parts, share))
        };
        if let Some(share) = self.carried_by(&[TimePart::Client]) {
            // What a server sends is the server's doing: the client does more because of it.
            let is_alone = !server.has_grown() || of_server < least;
            if is_alone {
                return Some(Finding::of(Kind::ClientLimited, &[TimePart::Client], share));
            }
        }
        let (parts, share) = alone.or_else(both).or_else(all)?;
        let work = self.more_work();
        let kind = if work.is_empty() { Kind::CpuOverhead } else { Kind::MoreWork };
        Some(Finding::of(kind, &parts, share).with(work))
    }

    /// Rows or pages, where more of them explain the CPU.
    fn more_work(&self) -> Vec<Quantity> {
        let Some(change) = self.split.quantity(Quantity::Metric(Metric::ServerCpu)) else {
            return Vec::new();
        };
        let Some(cpu) = change.times().filter(|times| *times > 1.0) else { return Vec::new() };
        let explains = |quantity: &Quantity| {
            let Some(change) = self.split.quantity(*quantity) else { return false };
            let times = change.times().unwrap_or(f64::INFINITY);
            change.has_grown() && times >= MORE_WORK && times.ln() >= OF_WORK * cpu.ln()
        };
        let all = [Quantity::Work(Work::Rows), Quantity::Work(Work::Pages)];
        let told: Vec<Quantity> = self.comparable(&all).into_iter().filter(explains).collect();
        let more = told.iter().filter_map(|q| self.split.quantity(*q));
        let most_us = WORK_US * more.map(|more| more.difference.point).sum::<f64>();
        if most_us >= OF_WORK * change.difference.point { told } else { Vec::new() }
    }

    /// Waiting for anything that no other rule knows.
    fn waiting(&self) -> Option<Finding> {
        let mut parts = vec![TimePart::Waiting];
        let mut share = self.carried_by(&parts);
        if share.is_none() {
            parts.push(TimePart::Storage);
            share = self.carried_by(&parts);
        }
        let mut told = self.comparable(&[Quantity::Work(Work::LockWaits)]);
        told.push(Quantity::Voluntary);
        let grown = |q: &Quantity| {
            let change = self.split.quantity(*q);
            change.is_some_and(|c| c.has_grown() && c.times().is_none_or(|t| t >= MORE_WORK))
        };
        let told = told.into_iter().filter(grown).collect();
        Some(Finding::of(Kind::Waiting, &parts, share?).with(told))
    }

    /// Parts that no rule knows together, each of them large.
    fn several(&self) -> Option<Finding> {
        let all = [
            TimePart::Server,
            TimePart::Background,
            TimePart::Client,
            TimePart::Storage,
            TimePart::Waiting,
        ];
        let is_large = |part: &TimePart| {
            let change = self.split.part(*part);
            let least = OF_SEVERAL * self.loss_us;
            change.is_some_and(|c| c.has_grown() && c.difference.point >= least)
        };
        let parts: Vec<TimePart> = all.into_iter().filter(is_large).collect();
        let share = self.carried_by(&parts).filter(|_| parts.len() > 1)?;
        Some(Finding::of(Kind::Several, &parts, share))
    }
}
