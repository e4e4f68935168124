/** The network that the option `chain` names: one that is shipped, or one that a JSON file defines. */
import { readFileSync } from 'node:fs'
import type { Network } from '../chain/network.ts'
import { readNetwork } from '../chain/read-network.ts'
import { isShipped, NETWORKS } from '../chain/shipped-networks.ts'
import { messageOf, NodeError } from '../errors.ts'

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new NodeError('invalid-options', `The network file ${path} cannot be read: ${messageOf(error)}`)
  }
}

/**
 * The network of a name or of a file. Throws `invalid-options` for a file that cannot be read, is malformed (with the
 * path of the member), or takes the name of a shipped network.
 */
export function networkOf(chain: string): Network {
  if (isShipped(chain)) return NETWORKS[chain]
  const network = readNetwork(readJson(chain), `network file ${chain}`)
  if (!isShipped(network.name)) return network
  throw new NodeError(
    'invalid-options',
    `network file ${chain}: name: ${network.name} is a network of this version; a network of a file needs a name of its own`,
  )
}
