-- about A list is read beside its row; WITH ORDINALITY counts from 1.
SELECT place, position, block, model, replica
FROM prompts CROSS JOIN UNNEST(prefix_ids) WITH ORDINALITY AS listed(block, position)
