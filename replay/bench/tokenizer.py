"""A tokenizer of 720 made-up words, one token each, as a folder that transformers reads. usage: tokenizer.py FOLDER"""
import json, os, sys
from tokenizers import Tokenizer, models, pre_tokenizers

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
words = ["<unk>", "<s>", "</s>"] + [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
t.save(folder + "/tokenizer.json")
template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "model_max_length": 8192, "chat_template": template}
json.dump(config, open(folder + "/tokenizer_config.json", "w"))
