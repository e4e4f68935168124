/** What a cluster is called in NATS: its stream, buckets and subjects. */

/** Names of the parts of one cluster. */
export interface Names {
  /** The stream that holds the log, and its only subject. */
  readonly stream: string
  readonly log: string
  /** Bucket without expiry: what the cluster is, and its latest snapshot. */
  readonly facts: string
  /** Bucket whose entries expire: the lease of the leader, and the nodes that run. */
  readonly presence: string
  /** Object store of the snapshots. */
  readonly snapshots: string
  /** Where the leader announces the end of the log. */
  readonly beat: string
  /** Where a node answers calls of others. */
  calls(node: string): string
}

/** The names of a cluster; the name itself holds letters, digits, hyphens and underscores. */
export function namesOf(cluster: string): Names {
  return {
    stream: `TANDEM-${cluster}`,
    log: `tandem.${cluster}.log`,
    facts: `tandem-${cluster}`,
    presence: `tandem-${cluster}-presence`,
    snapshots: `tandem-${cluster}-snapshots`,
    beat: `tandem.${cluster}.beat`,
    calls: (node) => `tandem.${cluster}.call.${node}`,
  }
}
