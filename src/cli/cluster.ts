/** `tandem cluster status`: the nodes of a cluster, its leader and their lags. */
import type { Command } from 'commander'
import { NodeError } from '../errors.ts'
import type { ClusterStatus } from '../replication/status.ts'
import { addSettingFlags, typedFlags } from './setting-flags.ts'
import { readSettings } from './settings.ts'
import type { Writers } from './start.ts'

/** One line a node; the leader is marked by its role. */
function linesOf({ term, leader, nodes }: ClusterStatus): string[] {
  const head = `Term ${term}, ${leader === null ? 'no leader' : `leader ${leader}`}, nodes: ${nodes.length}.`
  return [
    head,
    ...nodes.map(
      ({ id, role, head: height, lag }) => `${id}  ${role.padEnd(8)}  head ${height}  lag ${lag} s`,
    ),
  ]
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillClusterCommand(command: Command, { output }: Writers): void {
  const status = command.command('status').description('print leader and nodes of a cluster')
  addSettingFlags(status, ['cluster', 'clusterName', 'clusterCreds', 'clusterCa'])
  status
    .option('--json', 'print { term, leader, nodes: [{ id, role, head, lag }] }')
    .allowExcessArguments(false)
    .action(async ({ json }: { json?: boolean }) => {
      const flags = new Map([...typedFlags(status)].filter(([name]) => name !== 'json'))
      const { cluster, clusterName, clusterCreds, clusterCa } = readSettings(flags, process.env).node
      if (cluster === undefined) {
        throw new NodeError('invalid-options', 'Name the NATS servers of the cluster with --cluster.')
      }
      const { readClusterStatus } = await import('../replication/status.ts')
      const found = await readClusterStatus({
        url: cluster,
        name: clusterName ?? 'tandem',
        creds: clusterCreds,
        ca: clusterCa,
      })
      for (const line of json === true ? [JSON.stringify(found)] : linesOf(found)) output.write(line)
    })
}
