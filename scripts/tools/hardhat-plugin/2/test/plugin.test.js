const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { expect } = require('chai')
const hre = require('hardhat')

const { ethers, network } = hre
const { loadFixture, time } = require('@nomicfoundation/hardhat-network-helpers')

const DAY = 86_400
const locked = async () => {
  const vault = await ethers.deployContract('Vault', [DAY])
  await vault.deposit({ value: 5n })
  return { vault, withdrawal: vault.interface.encodeFunctionData('withdraw', [await vault.getAddress()]) }
}

describe('the network tandem', () => {
  it('is a Tandem node in this process, with the options of the configuration', async () => {
    expect(network.name).to.equal('tandem')
    expect(await network.provider.send('web3_clientVersion')).to.match(/^HardhatNetwork\/Tandem\//)
    expect((await ethers.provider.getNetwork()).chainId).to.equal(4242n)
    expect(await ethers.getSigners()).to.have.length(20)
  })

  it('has fixtures, helpers and matchers', async () => {
    const { vault } = await loadFixture(locked)
    await expect(vault.withdraw(vault)).to.be.revertedWithCustomError(vault, 'Locked')
    await time.increase(DAY)
    const [owner] = await ethers.getSigners()
    await expect(vault.withdraw(owner)).to.changeEtherBalances([vault, owner], [-5n, 5n])
    expect((await loadFixture(locked)).vault.target).to.equal(vault.target)
    await expect(vault.withdraw(owner)).to.be.revertedWithCustomError(vault, 'Locked')
  })

  it('names failures by the artifacts of the project', async () => {
    const { vault, withdrawal } = await loadFixture(locked)
    const [{ address }] = await ethers.getSigners()
    const call = network.provider.send('eth_call', [{ from: address, to: vault.target, data: withdrawal }])
    await expect(call).to.be.rejectedWith(
      /reverted with custom error 'Locked\(owner: 0x[0-9a-f]{40}, until: \d+\)'/,
    )
  })

  it('learns the names of contracts that are compiled while it runs', async () => {
    const source =
      'pragma solidity ^0.8.24;\ncontract Late { error TooLate(uint256 by); function f() external pure { revert TooLate(7); } }\n'
    writeFileSync(join(hre.config.paths.sources, 'Late.sol'), source)
    await hre.run('compile', { quiet: true })
    const late = await ethers.deployContract('Late')
    const data = late.interface.encodeFunctionData('f')
    const call = network.provider.send('eth_call', [{ to: late.target, data }])
    await expect(call).to.be.rejectedWith(/reverted with custom error 'TooLate\(by: 7\)'/)
  })

  it('delivers the messages of subscriptions', async () => {
    const id = await network.provider.send('eth_subscribe', ['newHeads'])
    const arrived = new Promise((resolve) => network.provider.once('message', resolve))
    await network.provider.send('evm_mine')
    const { type, data } = await arrived
    expect([type, data.subscription]).to.deep.equal(['eth_subscription', id])
  })
})
