// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Token {
    event Transfer(address indexed from, address indexed to, uint256 amount);

    mapping(address => uint256) public balanceOf;

    constructor(address owner, uint256 supply) {
        balanceOf[owner] = supply;
        emit Transfer(address(0), owner, supply);
    }

    function transfer(address to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        emit Transfer(msg.sender, to, amount);
    }
}

/** Creates tokens. */
contract Tokens {
    event Created(address indexed token);

    function create(uint256 supply) external {
        emit Created(address(new Token(msg.sender, supply)));
    }
}
