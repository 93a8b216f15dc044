// Adds two numbers: troupe execute examples/add '{"x": 1, "y": 2}'

export default ({x = 0, y = 0}) => ({sum: x + y});
