const { buildModule } = require('@nomicfoundation/hardhat-ignition/modules')

/** A token, a badge whose minter is the deployer, and a vault paid at its creation; the badge's role waits for both. */
module.exports = buildModule('Market', (m) => {
  const minter = m.getAccount(1)
  const token = m.contract('Token', [m.getParameter('supply', 1_000n)])
  const badge = m.contract('Badge', [m.getAccount(0)])
  const vault = m.contract('Vault', [60n], { value: 5n, after: [token] })
  const role = m.staticCall(badge, 'MINTER_ROLE')
  const granted = m.call(badge, 'grantRole', [role, minter])
  m.call(badge, 'mint', [minter, 1n], { from: minter, after: [granted] })
  const minted = m.call(token, 'mint', [vault, 7n])
  const amount = m.readEventArgument(minted, 'Transfer', 'value', { emitter: token })
  m.call(token, 'transfer', [minter, amount], { id: 'share', after: [minted] })
  return { token, badge, vault }
})
