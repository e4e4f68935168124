import { expect, it } from 'vitest'
import { createNode } from '../../../src/index.ts'
import { silentLogger } from '../../../src/logger.ts'
import { servedNode } from '../../support/served-node.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

it('a fork without network logs which block it is based on, unless the options name one', async () => {
  const upstream = await servedNode()
  const forkCacheDir = temporaryFolder()
  const { hash } = upstream.node.engine.queries.head()
  await (await createNode({ fork: upstream.url, forkCacheDir })).close()
  const lines: string[] = []
  const logger = { ...silentLogger, info: (message: string) => void lines.push(message) }
  const offline = { fork: upstream.url, forkCacheDir, forkOffline: true, logger }
  await (await createNode(offline)).close()
  expect(lines).toEqual([
    `offline, the fork continues from block 0 (${hash}) of chain id 33, which the cache has`,
  ])
  await (await createNode({ ...offline, fork: `${upstream.url}@0` })).close()
  expect(lines).toHaveLength(1)
  await upstream.close()
})
