import { useNode } from 'tandem/mocha'
import { checkChanges, checkClean, prepare, spoilAndFail } from './chain-checks.mjs'

describe('a file', () => {
  const tandem = useNode()
  before(() => prepare(tandem.node, tandem.accounts))
  it('fails', () => spoilAndFail(tandem.node, tandem.accounts))
  it('is clean after a failure', () => checkClean(tandem.node, tandem.accounts))
  it('is clean after a test', () => checkClean(tandem.node, tandem.accounts))
  it('checks changes', () => checkChanges(tandem))
})
