//! Real servers, fetched by the test: the whole life of each, and what goes wrong on the way.
//!
//! By default the two smallest; `RQPS_TEST_SERVERS="mysql@8.0.33 postgres@18.0"` takes others, `all`
//! takes the whole catalogue. They are kept in the target directory from one test to the next.

#[cfg(test)]
mod bench;
#[cfg(test)]
mod caches;
#[cfg(test)]
mod compression;
#[cfg(test)]
mod counters;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod official;
#[cfg(test)]
mod orphans;
#[cfg(test)]
mod own_files;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rocksdb;
#[cfg(test)]
mod stopped_orphans;
#[cfg(test)]
mod work;
