import test from 'ava';
import {testSeeds} from './seeds.js';

testSeeds(test, 1, 100);
