import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
	{ignores: ['build*/', 'node_modules/', '**/*.cjs', '**/*.mjs', 'troupe', 'web/']},
	eslint.configs.recommended,
	...tseslint.configs.recommendedTypeChecked,
	{
		languageOptions: {parserOptions: {project: './tsconfig.json', tsconfigRootDir: import.meta.dirname}},
		rules: {
			'@typescript-eslint/consistent-type-definitions': ['error', 'type'],
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/no-explicit-any': 'error',
			'@typescript-eslint/no-non-null-assertion': 'error',
			'@typescript-eslint/switch-exhaustiveness-check': ['error', {considerDefaultExhaustiveForUnions: true}],
			'@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true, allowBoolean: true}],
			'@typescript-eslint/no-unused-vars': ['error', {argsIgnorePattern: '^_', varsIgnorePattern: '^_'}],
			eqeqeq: 'error',
			'prefer-const': 'error',
		},
	},
	{files: ['*.js'], ...tseslint.configs.disableTypeChecked},
	{files: ['*.js'], languageOptions: {globals: {process: 'readonly'}}},
);
