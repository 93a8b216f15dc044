import test from 'ava';
import {testSeeds} from '../seeds.js';

testSeeds(test, 151, 150);
