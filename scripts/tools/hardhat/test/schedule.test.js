const { expect } = require('chai')
const { ethers } = require('hardhat')
const { loadFixture, time } = require('@nomicfoundation/hardhat-network-helpers')

const DAY = 86_400n

describe('a vesting wallet', () => {
  async function deployVesting() {
    const [, beneficiary] = await ethers.getSigners()
    const start = BigInt(await time.latest()) + 3600n
    const vesting = await ethers.deployContract('Vesting', [beneficiary, start, 4n * DAY], { value: 400n })
    return { vesting, beneficiary, start }
  }

  it('has nothing to release before its start, which lies in the future', async () => {
    const { vesting } = await loadFixture(deployVesting)
    expect(await vesting['releasable()']()).to.equal(0n)
  })

  for (const quarter of [1n, 2n, 3n, 4n]) {
    it(`releases ${quarter} of 4 parts in time`, async () => {
      const { vesting, beneficiary, start } = await loadFixture(deployVesting)
      await time.setNextBlockTimestamp(start + quarter * DAY)
      const release = await vesting['release()']()
      await expect(release).to.changeEtherBalance(beneficiary, quarter * 100n)
      await expect(release)
        .to.emit(vesting, 'EtherReleased')
        .withArgs(quarter * 100n)
    })
  }

  it('computes what is vested at any time', async () => {
    const { vesting, start } = await loadFixture(deployVesting)
    expect(await vesting['vestedAmount(uint64)'](start + DAY)).to.equal(100n)
    expect(await vesting['vestedAmount(uint64)'](start + 9n * DAY)).to.equal(400n)
  })
})

describe('a timelock', () => {
  async function deployTimelock() {
    const [, proposer, executor, other] = await ethers.getSigners()
    const timelock = await ethers.deployContract('Timelock', [DAY, [proposer], [executor]])
    const token = await ethers.deployContract('Token', [0n])
    await token.transferOwnership(timelock)
    const data = token.interface.encodeFunctionData('mint', [other.address, 11n])
    const operation = [token, 0n, data, ethers.ZeroHash, ethers.id('salt')]
    const id = await timelock.hashOperation(...operation)
    return { timelock, token, proposer, executor, other, operation, id }
  }

  it('executes when the delay is over', async () => {
    const { timelock, token, proposer, executor, other, operation, id } = await loadFixture(deployTimelock)
    await expect(timelock.connect(proposer).schedule(...operation, DAY))
      .to.emit(timelock, 'CallScheduled')
      .withArgs(id, 0n, token, 0n, operation[2], ethers.ZeroHash, DAY)
    await time.increaseTo(await timelock.getTimestamp(id))
    expect(await timelock.isOperationReady(id)).to.equal(true)
    await expect(timelock.connect(executor).execute(...operation)).to.changeTokenBalance(token, other, 11n)
    expect(await timelock.isOperationDone(id)).to.equal(true)
  })

  it('does not execute too early', async () => {
    const { timelock, proposer, executor, operation, id } = await loadFixture(deployTimelock)
    await timelock.connect(proposer).schedule(...operation, DAY)
    await time.increaseTo((await timelock.getTimestamp(id)) - 5n)
    await expect(timelock.connect(executor).execute(...operation))
      .to.be.revertedWithCustomError(timelock, 'TimelockUnexpectedOperationState')
      .withArgs(id, ethers.toBeHex(4, 32))
  })

  it('refuses a delay that is too short, and who may not propose', async () => {
    const { timelock, proposer, other, operation } = await loadFixture(deployTimelock)
    await expect(timelock.connect(proposer).schedule(...operation, DAY - 1n))
      .to.be.revertedWithCustomError(timelock, 'TimelockInsufficientDelay')
      .withArgs(DAY - 1n, DAY)
    await expect(timelock.connect(other).schedule(...operation, DAY)).to.be.revertedWithCustomError(
      timelock,
      'AccessControlUnauthorizedAccount',
    )
  })

  it('passes the error of the call on', async () => {
    const { timelock, token, proposer, executor, operation } = await loadFixture(deployTimelock)
    const data = token.interface.encodeFunctionData('mint', [ethers.ZeroAddress, 1n])
    const failing = [...operation.slice(0, 2), data, ...operation.slice(3)]
    await timelock.connect(proposer).schedule(...failing, DAY)
    await time.increase(DAY)
    await expect(timelock.connect(executor).execute(...failing))
      .to.be.revertedWithCustomError(token, 'ERC20InvalidReceiver')
      .withArgs(ethers.ZeroAddress)
  })
})
