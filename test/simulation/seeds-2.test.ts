import test from 'ava';
import {testSeeds} from './seeds.js';

testSeeds(test, 1_001, 1_000);
