/** The nodes of a cluster, read from NATS without joining. */
import { Kvm } from '@nats-io/kv'
import type { z } from 'zod'
import { NodeError } from '../errors.ts'
import { readClusterIdentity } from './facts.ts'
import { LEASE_KEY } from './lease.ts'
import { type LinkOptions, openLink } from './link.ts'
import { NodeEntry } from './messages.ts'
import { namesOf } from './names.ts'
import { NODE_KEY } from './presence.ts'

/** The state of a cluster. */
export interface ClusterStatus {
  readonly term: number
  /** Id of the node that holds the lease; null while there is none. */
  readonly leader: string | null
  /** In the order of their ids. A node that has ended is left out after a few seconds. */
  readonly nodes: readonly Pick<z.infer<typeof NodeEntry>, 'id' | 'role' | 'head' | 'lag'>[]
}

/** Reads the state of a cluster. Throws `cluster` when NATS does not answer, or when there is no such cluster. */
export async function readClusterStatus(
  options: LinkOptions & { readonly name: string },
): Promise<ClusterStatus> {
  const link = await openLink(options)
  try {
    const names = namesOf(options.name)
    const kvm = new Kvm(link.connection)
    const missing = () => new NodeError('cluster', `There is no cluster ${options.name} at ${options.url}.`)
    const facts = await kvm.open(names.facts)
    const identity = await readClusterIdentity(facts).catch(() => undefined)
    if (identity === undefined) throw missing()
    const presence = await kvm.open(names.presence)
    const lease = await presence.get(LEASE_KEY)
    const nodes: z.infer<typeof NodeEntry>[] = []
    // Not by `keys`, which lists a key again whenever its node announces itself meanwhile.
    const prefix = `$KV.${names.presence}.`
    const filter = { subjects_filter: `${prefix}${NODE_KEY}*` }
    const { state } = await link.jsm.streams.info(`KV_${names.presence}`, filter)
    for (const subject of Object.keys(state.subjects ?? {})) {
      const entry = await presence.get(subject.slice(prefix.length))
      const read = entry?.operation === 'PUT' ? NodeEntry.safeParse(entry.json()) : undefined
      // Malformed entries are left out.
      if (read?.success === true) nodes.push(read.data)
    }
    nodes.sort((a, b) => (a.id < b.id ? -1 : 1))
    return {
      term: Math.max(0, ...nodes.map(({ term }) => term)),
      leader: lease?.operation === 'PUT' ? lease.string() : null,
      nodes: nodes.map(({ id, role, head, lag }) => ({ id, role, head, lag })),
    }
  } finally {
    await link.close()
  }
}
