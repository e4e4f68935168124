import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import hre from 'hardhat'

const DAY = 86_400
const connection = await hre.network.create('tandem')
const { ethers, provider, networkHelpers } = connection

const locked = async () => {
  const vault = await ethers.deployContract('Vault', [DAY])
  await vault.deposit({ value: 5n })
  return { vault, withdrawal: vault.interface.encodeFunctionData('withdraw', [await vault.getAddress()]) }
}

/** The message of the error that a call ends in. */
const messageOf = (call) =>
  call.then(
    () => 'no error',
    ({ message }) => message,
  )

describe('the network tandem', () => {
  after(() => connection.close())

  it('is a Tandem node in this process, with the options of the configuration', async () => {
    expect(connection.networkName).to.equal('tandem')
    expect(await provider.request({ method: 'web3_clientVersion' })).to.match(/^HardhatNetwork\/Tandem\//)
    expect((await ethers.provider.getNetwork()).chainId).to.equal(4242n)
    expect(await ethers.getSigners()).to.have.length(20)
  })

  it('has fixtures, helpers and matchers', async () => {
    const { vault } = await networkHelpers.loadFixture(locked)
    await expect(vault.withdraw(vault)).to.be.revertedWithCustomError(vault, 'Locked')
    await networkHelpers.time.increase(DAY)
    const [owner] = await ethers.getSigners()
    await expect(vault.withdraw(owner)).to.changeEtherBalances(ethers, [vault, owner], [-5n, 5n])
    expect((await networkHelpers.loadFixture(locked)).vault.target).to.equal(vault.target)
    await expect(vault.withdraw(owner)).to.be.revertedWithCustomError(vault, 'Locked')
  })

  it('names failures by the artifacts of the project', async () => {
    const { vault, withdrawal } = await networkHelpers.loadFixture(locked)
    const [{ address }] = await ethers.getSigners()
    const call = [{ from: address, to: vault.target, data: withdrawal }]
    expect(await messageOf(provider.request({ method: 'eth_call', params: call }))).to.match(
      /reverted with custom error 'Locked\(owner: 0x[0-9a-f]{40}, until: \d+\)'/,
    )
  })

  it('learns the names of contracts that are compiled while it runs', async () => {
    const source =
      'pragma solidity ^0.8.24;\ncontract Late { error TooLate(uint256 by); function f() external pure { revert TooLate(7); } }\n'
    writeFileSync(join(hre.config.paths.sources.solidity[0], 'Late.sol'), source)
    await hre.tasks.getTask('build').run({ quiet: true })
    // Hardhat itself has read the list of artifacts before.
    const file = join(hre.config.paths.artifacts, 'contracts/Late.sol/Late.json')
    const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8'))
    const late = await (await ethers.getContractFactory(abi, bytecode)).deploy()
    const call = [{ to: late.target, data: late.interface.encodeFunctionData('f') }]
    expect(await messageOf(provider.request({ method: 'eth_call', params: call }))).to.match(
      /reverted with custom error 'TooLate\(by: 7\)'/,
    )
  })

  it('has a node for each connection, which ends with it', async () => {
    const other = await hre.network.create('tandem')
    await other.provider.request({ method: 'hardhat_mine', params: ['0x5'] })
    expect(await other.provider.request({ method: 'eth_blockNumber' })).to.equal('0x5')
    expect(await other.provider.request({ method: 'eth_blockNumber' })).not.to.equal(
      await provider.request({ method: 'eth_blockNumber' }),
    )
    await other.close()
    expect(await provider.request({ method: 'eth_chainId' })).to.equal('0x1092')
  })
})
