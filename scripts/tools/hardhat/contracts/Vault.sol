// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

contract Vault is ReentrancyGuard {
    error Locked(address owner, uint256 until);
    error NothingToWithdraw();

    event Deposited(address indexed owner, uint256 amount, uint256 until);
    event Withdrawn(address indexed owner, address indexed to, uint256 amount);

    uint256 public immutable lock;
    mapping(address => uint256) public balances;
    mapping(address => uint256) public unlockTimes;
    uint256[] private history;

    constructor(uint256 lock_) payable {
        lock = lock_;
    }

    function deposit() external payable {
        require(msg.value > 0, "Vault: no value");
        balances[msg.sender] += msg.value;
        unlockTimes[msg.sender] = block.timestamp + lock;
        history.push(msg.value);
        emit Deposited(msg.sender, msg.value, unlockTimes[msg.sender]);
    }

    function withdraw(address payable to) external nonReentrant {
        uint256 amount = balances[msg.sender];
        if (amount == 0) revert NothingToWithdraw();
        if (block.timestamp < unlockTimes[msg.sender]) revert Locked(msg.sender, unlockTimes[msg.sender]);
        balances[msg.sender] = 0;
        Address.sendValue(to, amount);
        emit Withdrawn(msg.sender, to, amount);
    }

    function split(address payable[] calldata to) external payable {
        for (uint256 i = 0; i < to.length; i++) Address.sendValue(to[i], msg.value / to.length);
    }

    function entry(uint256 index) external view returns (uint256) {
        return history[index];
    }

    function checked(uint256 a, uint256 b) external pure returns (uint256) {
        return a - b;
    }

    function divide(uint256 a, uint256 b) external pure returns (uint256) {
        return a / b;
    }

    function enforce(bool ok) external pure {
        assert(ok);
    }

    function silent() external pure {
        revert();
    }

    function burnGas() external {
        while (true) history.push(1);
    }
}
