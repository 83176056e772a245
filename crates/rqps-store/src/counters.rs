//! The counters of samples and of slices' usage as columns, the same in both tables.

use rqps_model::{HostCounters, ProcessCounters, Sample, StorageCounters, Usage, Waits};
use rusqlite::Row;

/// Columns of [`Counters`], in the order of their values.
pub(crate) const COLUMNS: [&str; N_COLUMNS] = [
    "host_cpu_user_ns",
    "host_cpu_system_ns",
    "host_cpu_idle_ns",
    "host_cpu_iowait_ns",
    "host_cpu_steal_ns",
    "host_context_switches",
    "host_procs_running",
    "host_procs_blocked",
    "host_memory_available_bytes",
    "host_swap_in_pages",
    "host_swap_out_pages",
    "host_n_cpus",
    "server_cpu_user_ns",
    "server_cpu_system_ns",
    "server_cpu_total_ns",
    "server_rss_bytes",
    "server_minor_faults",
    "server_major_faults",
    "server_voluntary_switches",
    "server_involuntary_switches",
    "server_read_bytes",
    "server_write_bytes",
    "server_n_processes",
    "server_n_threads",
    "client_cpu_user_ns",
    "client_cpu_system_ns",
    "client_cpu_total_ns",
    "client_rss_bytes",
    "client_minor_faults",
    "client_major_faults",
    "client_voluntary_switches",
    "client_involuntary_switches",
    "client_read_bytes",
    "client_write_bytes",
    "client_n_processes",
    "client_n_threads",
    "storage_reads",
    "storage_read_bytes",
    "storage_writes",
    "storage_write_bytes",
    "storage_busy_ns",
    "sampler_cpu_ns",
    "server_run_wait_ns",
    "served_cpu_ns",
    "served_run_wait_ns",
    "client_threads_cpu_ns",
    "client_threads_run_wait_ns",
    "io_stalled_ns",
];

const N_HOST: usize = 12;
const N_PROCESS: usize = 12;
const N_STORAGE: usize = 5;
const N_WAITS: usize = 6;
const N_COLUMNS: usize = N_HOST + 2 * N_PROCESS + N_STORAGE + 1 + N_WAITS;

/// What samples and usage have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counters {
    pub(crate) host: HostCounters,
    pub(crate) server: Option<ProcessCounters>,
    pub(crate) client: ProcessCounters,
    pub(crate) storage: Option<StorageCounters>,
    pub(crate) sampler_cpu_ns: u64,
    pub(crate) waits: Waits,
}

impl Counters {
    /// The counters of a sample, without its time.
    pub(crate) fn of_sample(sample: &Sample) -> Self {
        let Sample { at_ns: _, host, server, client, storage, sampler_cpu_ns, waits } = *sample;
        Self { host, server, client, storage, sampler_cpu_ns, waits }
    }

    /// The counters of a usage, without its wall-clock time.
    pub(crate) fn of_usage(usage: &Usage) -> Self {
        let Usage { wall_ns: _, host, server, client, storage, sampler_cpu_ns, waits } = *usage;
        Self { host, server, client, storage, sampler_cpu_ns, waits }
    }

    /// The sample that these counters were read for.
    pub(crate) fn into_sample(self, at_ns: u64) -> Sample {
        let Self { host, server, client, storage, sampler_cpu_ns, waits } = self;
        Sample { at_ns, host, server, client, storage, sampler_cpu_ns, waits }
    }

    /// The usage that these counters make.
    pub(crate) fn into_usage(self, wall_ns: u64) -> Usage {
        let Self { host, server, client, storage, sampler_cpu_ns, waits } = self;
        Usage { wall_ns, host, server, client, storage, sampler_cpu_ns, waits }
    }

    /// The values, in the order of [`COLUMNS`].
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<u64>> {
        let host = host_values(&self.host).map(Some);
        let server = optional(self.server.as_ref().map(process_values));
        let client = process_values(&self.client).map(Some);
        let storage = optional(self.storage.as_ref().map(storage_values));
        let parts = host.into_iter().chain(server).chain(client).chain(storage);
        parts.chain([Some(self.sampler_cpu_ns)]).chain(wait_values(&self.waits))
    }

    /// Reads the columns of [`COLUMNS`] that begin at `start`.
    pub(crate) fn of_row(row: &Row<'_>, start: usize) -> rusqlite::Result<Self> {
        let server_at = start + N_HOST;
        let client_at = server_at + N_PROCESS;
        let storage_at = client_at + N_PROCESS;
        let is_there =
            |at: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<u64>>(at)?.is_some());
        let server = is_there(server_at)?.then(|| process_of(row, server_at)).transpose()?;
        let storage = is_there(storage_at)?.then(|| storage_of(row, storage_at)).transpose()?;
        Ok(Self {
            host: host_of(row, start)?,
            server,
            client: process_of(row, client_at)?,
            storage,
            sampler_cpu_ns: row.get(storage_at + N_STORAGE)?,
            waits: waits_of(row, storage_at + N_STORAGE + 1)?,
        })
    }
}

fn optional<const N: usize>(values: Option<[u64; N]>) -> [Option<u64>; N] {
    values.map_or([None; N], |values| values.map(Some))
}

/// The values from column `start` on.
fn numbers<const N: usize>(row: &Row<'_>, start: usize) -> rusqlite::Result<[u64; N]> {
    let mut values = [0; N];
    for (i, value) in values.iter_mut().enumerate() {
        *value = row.get(start + i)?;
    }
    Ok(values)
}

fn small(column: usize, value: u64) -> rusqlite::Result<u32> {
    let out_of_range = || {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        rusqlite::Error::IntegralValueOutOfRange(column, value)
    };
    u32::try_from(value).map_err(|_| out_of_range())
}

fn host_values(host: &HostCounters) -> [u64; N_HOST] {
    let HostCounters {
        cpu_user_ns,
        cpu_system_ns,
        cpu_idle_ns,
        cpu_iowait_ns,
        cpu_steal_ns,
        context_switches,
        procs_running,
        procs_blocked,
        memory_available_bytes,
        swap_in_pages,
        swap_out_pages,
        n_cpus,
    } = *host;
    [
        cpu_user_ns,
        cpu_system_ns,
        cpu_idle_ns,
        cpu_iowait_ns,
        cpu_steal_ns,
        context_switches,
        procs_running,
        procs_blocked,
        memory_available_bytes,
        swap_in_pages,
        swap_out_pages,
        n_cpus.into(),
    ]
}

fn host_of(row: &Row<'_>, start: usize) -> rusqlite::Result<HostCounters> {
    let v: [u64; N_HOST] = numbers(row, start)?;
    Ok(HostCounters {
        cpu_user_ns: v[0],
        cpu_system_ns: v[1],
        cpu_idle_ns: v[2],
        cpu_iowait_ns: v[3],
        cpu_steal_ns: v[4],
        context_switches: v[5],
        procs_running: v[6],
        procs_blocked: v[7],
        memory_available_bytes: v[8],
        swap_in_pages: v[9],
        swap_out_pages: v[10],
        n_cpus: small(start + 11, v[11])?,
    })
}

fn process_values(process: &ProcessCounters) -> [u64; N_PROCESS] {
    let ProcessCounters {
        cpu_user_ns,
        cpu_system_ns,
        cpu_total_ns,
        rss_bytes,
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
        read_bytes,
        write_bytes,
        n_processes,
        n_threads,
    } = *process;
    [
        cpu_user_ns,
        cpu_system_ns,
        cpu_total_ns,
        rss_bytes,
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
        read_bytes,
        write_bytes,
        n_processes.into(),
        n_threads.into(),
    ]
}

fn process_of(row: &Row<'_>, start: usize) -> rusqlite::Result<ProcessCounters> {
    let v: [u64; N_PROCESS] = numbers(row, start)?;
    Ok(ProcessCounters {
        cpu_user_ns: v[0],
        cpu_system_ns: v[1],
        cpu_total_ns: v[2],
        rss_bytes: v[3],
        minor_faults: v[4],
        major_faults: v[5],
        voluntary_switches: v[6],
        involuntary_switches: v[7],
        read_bytes: v[8],
        write_bytes: v[9],
        n_processes: small(start + 10, v[10])?,
        n_threads: small(start + 11, v[11])?,
    })
}

fn storage_values(storage: &StorageCounters) -> [u64; N_STORAGE] {
    let StorageCounters { reads, read_bytes, writes, write_bytes, busy_ns } = *storage;
    [reads, read_bytes, writes, write_bytes, busy_ns]
}

fn storage_of(row: &Row<'_>, start: usize) -> rusqlite::Result<StorageCounters> {
    let [reads, read_bytes, writes, write_bytes, busy_ns] = numbers(row, start)?;
    Ok(StorageCounters { reads, read_bytes, writes, write_bytes, busy_ns })
}

fn wait_values(waits: &Waits) -> [Option<u64>; N_WAITS] {
    let Waits {
        server_run_wait_ns,
        served_cpu_ns,
        served_run_wait_ns,
        client_threads_cpu_ns,
        client_threads_run_wait_ns,
        io_stalled_ns,
    } = *waits;
    [
        server_run_wait_ns,
        served_cpu_ns,
        served_run_wait_ns,
        client_threads_cpu_ns,
        client_threads_run_wait_ns,
        io_stalled_ns,
    ]
}

fn waits_of(row: &Row<'_>, start: usize) -> rusqlite::Result<Waits> {
    Ok(Waits {
        server_run_wait_ns: row.get(start)?,
        served_cpu_ns: row.get(start + 1)?,
        served_run_wait_ns: row.get(start + 2)?,
        client_threads_cpu_ns: row.get(start + 3)?,
        client_threads_run_wait_ns: row.get(start + 4)?,
        io_stalled_ns: row.get(start + 5)?,
    })
}
