const { expect } = require('chai')
const { ethers } = require('hardhat')
const {
  loadFixture,
  mine,
  mineUpTo,
  reset,
  setBalance,
  setCode,
  setNonce,
  setStorageAt,
  getStorageAt,
  takeSnapshot,
  time,
} = require('@nomicfoundation/hardhat-network-helpers')
const { anyValue } = require('@nomicfoundation/hardhat-chai-matchers/withArgs')
const { PANIC_CODES } = require('@nomicfoundation/hardhat-chai-matchers/panic')

const DAY = 86_400

async function deployVault() {
  const [owner, alice, bob] = await ethers.getSigners()
  const vault = await ethers.deployContract('Vault', [DAY])
  return { vault, owner, alice, bob }
}

describe('a vault', () => {
  it('takes value, by the change of both balances', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    await expect(vault.connect(alice).deposit({ value: 5n })).to.changeEtherBalances(
      [alice, vault],
      [-5n, 5n],
    )
  })

  it('pays back after the lock, to another account', async () => {
    const { vault, alice, bob } = await loadFixture(deployVault)
    await vault.connect(alice).deposit({ value: 8n })
    await time.increase(DAY)
    await expect(vault.connect(alice).withdraw(bob)).to.changeEtherBalance(bob, 8n)
  })

  it('counts fees where the test asks for it', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    const deposit = await vault.connect(alice).deposit({ value: 5n, gasPrice: 10_000_000_000n })
    const { fee } = await deposit.wait()
    expect(fee).to.be.greaterThan(0n)
    await expect(deposit).to.changeEtherBalance(alice, -(fee + 5n), { includeFee: true })
  })

  it('emits the time of the block that took the deposit', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    const at = (await time.latest()) + 1000
    await time.setNextBlockTimestamp(at)
    await expect(vault.connect(alice).deposit({ value: 1n }))
      .to.emit(vault, 'Deposited')
      .withArgs(alice, 1n, at + DAY)
  })

  it('stays locked until the very second', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    await vault.connect(alice).deposit({ value: 1n })
    const until = await vault.unlockTimes(alice)
    await time.setNextBlockTimestamp(until - 1n)
    await expect(vault.connect(alice).withdraw(alice))
      .to.be.revertedWithCustomError(vault, 'Locked')
      .withArgs(alice, until)
    await time.setNextBlockTimestamp(until)
    await expect(vault.connect(alice).withdraw(alice))
      .to.emit(vault, 'Withdrawn')
      .withArgs(alice, anyValue, 1n)
  })

  it('reads the time of the pending block in calls', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    await vault.connect(alice).deposit({ value: 1n })
    await expect(vault.connect(alice).withdraw.staticCall(alice)).to.be.revertedWithCustomError(
      vault,
      'Locked',
    )
    await time.increaseTo(await vault.unlockTimes(alice))
    await vault.connect(alice).withdraw.staticCall(alice)
  })

  it('refuses with a reason', async () => {
    const { vault } = await loadFixture(deployVault)
    await expect(vault.deposit()).to.be.revertedWith('Vault: no value')
    await expect(vault.deposit.staticCall()).to.be.revertedWith('Vault: no value')
    await expect(vault.deposit.estimateGas()).to.be.revertedWith('Vault: no value')
  })

  it('refuses without a reason', async () => {
    const { vault, owner } = await loadFixture(deployVault)
    await expect(vault.silent()).to.be.revertedWithoutReason()
    await expect(owner.sendTransaction({ to: vault, value: 1n })).to.be.revertedWithoutReason()
    await expect(owner.sendTransaction({ to: vault, data: '0x12345678' })).to.be.reverted
  })

  it('panics by each code', async () => {
    const { vault } = await loadFixture(deployVault)
    await expect(vault.checked(1, 2)).to.be.revertedWithPanic(PANIC_CODES.ARITHMETIC_OVERFLOW)
    await expect(vault.divide(1, 0)).to.be.revertedWithPanic(PANIC_CODES.DIVISION_BY_ZERO)
    await expect(vault.entry(0)).to.be.revertedWithPanic(PANIC_CODES.ARRAY_ACCESS_OUT_OF_BOUNDS)
    await expect(vault.enforce(false)).to.be.revertedWithPanic(PANIC_CODES.ASSERTION_ERROR)
  })

  it('runs out of gas as an error, and its receipt has status 0', async () => {
    const { vault, owner } = await loadFixture(deployVault)
    const attempt = owner.sendTransaction({
      to: vault,
      data: vault.interface.encodeFunctionData('burnGas'),
      gasLimit: 200_000n,
    })
    await expect(attempt).to.be.rejectedWith(/out of gas/)
    const { number, transactions } = await ethers.provider.getBlock('latest')
    const receipt = await ethers.provider.getTransactionReceipt(transactions[0])
    expect([receipt.status, receipt.blockNumber, receipt.gasUsed]).to.deep.equal([0, number, 200_000n])
  })

  it('splits a payment over several accounts', async () => {
    const { vault, owner, alice, bob } = await loadFixture(deployVault)
    await expect(vault.split([alice, bob], { value: 10n })).to.changeEtherBalances(
      [owner, alice, bob],
      [-10n, 5n, 5n],
    )
  })

  it('is created with value', async () => {
    const vault = await ethers.deployContract('Vault', [1n], { value: 3n })
    expect(await ethers.provider.getBalance(vault)).to.equal(3n)
  })

  it('waits for a receipt, and its events are decoded', async () => {
    const { vault } = await loadFixture(deployVault)
    const receipt = await (await vault.deposit({ value: 2n })).wait()
    expect(receipt.logs.map((log) => log.fragment.name)).to.deep.equal(['Deposited'])
    expect(receipt.index).to.equal(0)
  })
})

describe('network helpers', () => {
  it('restore a snapshot, several times', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    const snapshot = await takeSnapshot()
    for (const value of [1n, 2n]) {
      await vault.connect(alice).deposit({ value })
      expect(await vault.balances(alice)).to.equal(value)
      await snapshot.restore()
      expect(await vault.balances(alice)).to.equal(0n)
    }
  })

  it('mine blocks, with an interval, and up to a number', async () => {
    const [number, before] = [await time.latestBlock(), await time.latest()]
    await mine(100, { interval: 60 })
    expect(await time.latestBlock()).to.equal(number + 100)
    expect((await time.latest()) - before).to.be.within(99 * 60, 99 * 60 + 120)
    await mineUpTo(number + 150)
    expect(await time.latestBlock()).to.equal(number + 150)
  })

  it('move the clock forward, and keep it', async () => {
    const before = await time.latest()
    const after = await time.increase(3600)
    expect(after).to.equal(await time.latest())
    expect(after - before).to.be.within(3600, 3605)
    await time.increaseTo(after + 500)
    expect(await time.latest()).to.equal(after + 500)
    await mine()
    expect(await time.latest()).to.be.within(after + 501, after + 505)
  })

  it('edit balance, nonce, code and storage', async () => {
    const { vault, alice } = await loadFixture(deployVault)
    const account = '0x00000000000000000000000000000000000000A1'
    await setBalance(account, 77n)
    expect(await ethers.provider.getBalance(account)).to.equal(77n)
    await setNonce(account, 9)
    expect(await ethers.provider.getTransactionCount(account)).to.equal(9)
    await setCode(account, await ethers.provider.getCode(vault))
    await setStorageAt(account, 5n, 6n)
    expect(BigInt(await getStorageAt(account, 5n))).to.equal(6n)
    const copy = await ethers.getContractAt('Vault', account)
    expect(await copy.lock()).to.equal(DAY)
    await expect(copy.connect(alice).deposit({ value: 1n })).to.changeEtherBalance(copy, 1n)
  })

  it('stop automatic mining and mine several transactions in one block', async () => {
    const { alice, bob } = await loadFixture(deployVault)
    await ethers.provider.send('evm_setAutomine', [false])
    try {
      const first = await alice.sendTransaction({ to: bob, value: 1n })
      const second = await alice.sendTransaction({ to: bob, value: 1n })
      expect(
        (await ethers.provider.send('eth_getBlockByNumber', ['pending', false])).transactions,
      ).to.have.length(2)
      await mine()
      const block = await ethers.provider.getBlock('latest')
      expect(block.transactions).to.deep.equal([first.hash, second.hash])
    } finally {
      await ethers.provider.send('evm_setAutomine', [true])
    }
  })

  it('reset the chain', async () => {
    await reset()
    expect(await time.latestBlock()).to.equal(0)
    const [owner] = await ethers.getSigners()
    expect(await ethers.provider.getBalance(owner)).to.equal(ethers.parseEther('10000'))
    expect(await ethers.provider.getTransactionCount(owner)).to.equal(0)
  })
})
