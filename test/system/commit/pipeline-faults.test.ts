import test from 'ava';
import {testLives} from './_store-lives.js';

testLives(test, 100);
