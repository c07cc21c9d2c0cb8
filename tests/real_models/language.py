"""Models of transformers, made from small configurations."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

from torch import nn

from tests.real_models.data import (
    CLASSES,
    VOCABULARY,
    Batches,
    causal,
    classified,
    heard,
    masked,
    named,
    painted,
    pictures,
    seen,
    series,
    spanned,
    spectra,
    spectrum,
    spoken,
    tagged,
    translated,
    unpadded,
)

SMALL = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64, "max_position_embeddings": 64, "pad_token_id": 1, "num_labels": CLASSES,
    "bos_token_id": 0, "eos_token_id": 2,
}  # fmt: skip
GATED = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}
PAIR = {
    "vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
    "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2,
}  # fmt: skip
SEEING = {**SMALL, "image_size": 32, "patch_size": 8, "num_channels": 3}
HEARING = {
    **SMALL, "conv_dim": (16, 16, 16), "conv_kernel": (10, 3, 3), "conv_stride": (5, 2, 2),
    "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4,
    "mask_time_prob": 0.05, "mask_time_length": 2, "classifier_proj_size": 16, "vocab_size": 12, "pad_token_id": 0,
}  # fmt: skip
TOWER = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}

Entry = tuple[str, dict[str, Any], Batches]

TRANSFORMERS: dict[str, Entry] = {
    # encoders
    "bert": ("BertForSequenceClassification", SMALL, classified),
    "bert-masked": ("BertForMaskedLM", SMALL, masked),
    "roberta": ("RobertaForMaskedLM", SMALL, masked),
    "distilbert": (
        "DistilBertForTokenClassification",
        {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "num_labels": CLASSES},
        tagged,
    ),
    "albert": ("AlbertForSequenceClassification", {**SMALL, "embedding_size": 16}, classified),
    "electra": ("ElectraForSequenceClassification", {**SMALL, "embedding_size": 16}, classified),
    "deberta-v2": (
        "DebertaV2ForSequenceClassification",
        {**SMALL, "relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]},
        classified,
    ),
    "mpnet": ("MPNetForMaskedLM", SMALL, masked),
    "longformer": ("LongformerForTokenClassification", {**SMALL, "attention_window": [8, 8]}, tagged),
    "big-bird": ("BigBirdForQuestionAnswering", {**SMALL, "attention_type": "original_full"}, spanned),
    "modernbert": ("ModernBertForMaskedLM", {**SMALL, "global_attn_every_n_layers": 2, "local_attention": 8,
        "cls_token_id": 0, "sep_token_id": 2}, masked),
    "convbert": ("ConvBertForSequenceClassification", {**SMALL, "embedding_size": 32, "head_ratio": 2}, classified),
    "squeezebert": ("SqueezeBertForSequenceClassification", {**SMALL, "embedding_size": 32}, classified),
    "mobilebert": ("MobileBertForSequenceClassification", {**SMALL, "embedding_size": 32, "intra_bottleneck_size": 32},
        classified),
    "fnet": ("FNetForMaskedLM", SMALL, unpadded),
    "roformer": ("RoFormerForSequenceClassification", {**SMALL, "embedding_size": 32}, classified),
    "xlnet": ("XLNetForSequenceClassification", {"vocab_size": VOCABULARY, "d_model": 32, "n_layer": 2, "n_head": 4,
        "d_inner": 64, "num_labels": CLASSES, "pad_token_id": 1}, classified),
    "funnel": ("FunnelForSequenceClassification", {"vocab_size": VOCABULARY, "block_sizes": [1, 1], "d_model": 32,
        "n_head": 4, "d_head": 8, "d_inner": 64, "num_labels": CLASSES}, classified),
    "esm": ("EsmForMaskedLM", {**SMALL, "mask_token_id": 2, "position_embedding_type": "rotary"}, masked),
    "canine": ("CanineForSequenceClassification", {**SMALL, "num_hash_buckets": 64, "local_transformer_stride": 8},
        classified),
    # decoders
    "gpt2": ("GPT2LMHeadModel", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
        causal),
    "gpt-neo": ("GPTNeoForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_layers": 2, "num_heads": 4,
        "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64, "window_size": 8}, causal),
    "gpt-neox": ("GPTNeoXForCausalLM", SMALL, causal),
    "gptj": ("GPTJForCausalLM", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64,
        "rotary_dim": 4}, causal),
    "opt": ("OPTForCausalLM", {**SMALL, "ffn_dim": 64, "word_embed_proj_dim": 32}, causal),
    "bloom": ("BloomForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4}, causal),
    "falcon": ("FalconForCausalLM", SMALL, causal),
    "llama": ("LlamaForCausalLM", GATED, causal),
    "mistral": ("MistralForCausalLM", {**GATED, "sliding_window": 8}, causal),
    "qwen2": ("Qwen2ForCausalLM", GATED, causal),
    "qwen3": ("Qwen3ForCausalLM", GATED, causal),
    "gemma": ("GemmaForCausalLM", GATED, causal),
    "gemma2": ("Gemma2ForCausalLM", {**GATED, "sliding_window": 8, "query_pre_attn_scalar": 8}, causal),
    "phi": ("PhiForCausalLM", {**SMALL, "num_key_value_heads": 2}, causal),
    "phi3": ("Phi3ForCausalLM", GATED, causal),
    "olmo2": ("Olmo2ForCausalLM", GATED, causal),
    "stablelm": ("StableLmForCausalLM", GATED, causal),
    "starcoder2": ("Starcoder2ForCausalLM", GATED, causal),
    "cohere": ("CohereForCausalLM", GATED, causal),
    "xglm": ("XGLMForCausalLM", {**SMALL, "d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 4}, causal),
    "ctrl": ("CTRLLMHeadModel", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "dff": 64,
        "n_positions": 64}, causal),
    # mixtures of experts
    "mixtral": ("MixtralForCausalLM", {**GATED, "num_local_experts": 4, "output_router_logits": True}, causal),
    "qwen2-moe": ("Qwen2MoeForCausalLM", {**GATED, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32}, causal),
    "deepseek-v3": ("DeepseekV3ForCausalLM", {**SMALL, "num_key_value_heads": 4, "n_routed_experts": 4,
        "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 32, "kv_lora_rank": 8,
        "q_lora_rank": 8, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "first_k_dense_replace": 1},
        causal),
    "switch": ("SwitchTransformersForConditionalGeneration", {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8,
        "d_ff": 64, "num_layers": 2, "num_sparse_encoder_layers": 1, "num_decoder_layers": 2, "num_heads": 4,
        "num_sparse_decoder_layers": 1, "num_experts": 4, "decoder_start_token_id": 0, "pad_token_id": 0}, translated),
    # state spaces and recurrences
    "mamba": ("MambaForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
        "state_size": 4}, causal),
    "mamba2": ("Mamba2ForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
        "state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8}, causal),
    "rwkv": ("RwkvForCausalLM", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
        "attention_hidden_size": 32, "intermediate_size": 64, "context_length": 64}, causal),
    "recurrent-gemma": ("RecurrentGemmaForCausalLM", {**GATED, "lru_width": 32, "attention_window_size": 8,
        "block_types": ["recurrent", "attention"]}, causal),
    # encoders with decoders
    "t5": ("T5ForConditionalGeneration", {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 64,
        "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "pad_token_id": 0}, translated),
    "bart": ("BartForConditionalGeneration", PAIR, translated),
    "mbart": ("MBartForConditionalGeneration", PAIR, translated),
    "marian": ("MarianMTModel", {**PAIR, "decoder_vocab_size": VOCABULARY}, translated),
    "pegasus": ("PegasusForConditionalGeneration", PAIR, translated),
    "blenderbot": ("BlenderbotForConditionalGeneration", PAIR, translated),
    "led": ("LEDForConditionalGeneration", {**PAIR, "attention_window": 8, "max_encoder_position_embeddings": 64,
        "max_decoder_position_embeddings": 64}, translated),
    "prophetnet": ("ProphetNetForConditionalGeneration", {"vocab_size": VOCABULARY, "hidden_size": 32,
        "num_encoder_layers": 2, "num_decoder_layers": 2, "num_encoder_attention_heads": 4, "ngram": 2,
        "num_decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_buckets": 8,
        "relative_max_distance": 16, "max_position_embeddings": 64, "decoder_start_token_id": 0}, translated),
    # pictures
    "vit": ("ViTForImageClassification", SEEING, seen(32)),
    "deit": ("DeiTForImageClassification", SEEING, seen(32)),
    "beit": ("BeitForImageClassification", {**SEEING, "layer_scale_init_value": 0.1}, seen(32)),
    "dinov2": ("Dinov2ForImageClassification", SEEING, seen(32)),
    "swin": ("SwinForImageClassification", {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1],
        "num_heads": [2, 4], "window_size": 4, "num_labels": CLASSES}, seen(32)),
    "convnext": ("ConvNextForImageClassification", {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2,
        "num_labels": CLASSES}, seen(32)),
    "resnet": ("ResNetForImageClassification", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1],
        "layer_type": "basic", "num_labels": CLASSES}, seen(32)),
    "mobilenet-v2": ("MobileNetV2ForImageClassification", {"depth_multiplier": 0.25, "num_labels": CLASSES}, seen(64)),
    "segformer": ("SegformerForSemanticSegmentation", {"num_encoder_blocks": 2, "depths": [1, 1],
        "sr_ratios": [2, 1], "hidden_sizes": [8, 16], "patch_sizes": [7, 3], "strides": [4, 2],
        "num_attention_heads": [1, 2], "mlp_ratios": [2, 2], "decoder_hidden_size": 16, "num_labels": 2}, painted(32)),
    "vit-mae": ("ViTMAEForPreTraining", {**SEEING, "decoder_hidden_size": 16, "decoder_num_hidden_layers": 1,
        "decoder_num_attention_heads": 2, "decoder_intermediate_size": 32},
        lambda: {"pixel_values": pictures(3, 32, 32)[0]}),
    "clip": ("CLIPModel", {"text_config": {**SMALL, "projection_dim": 16}, "projection_dim": 16,
        "vision_config": {**TOWER, "image_size": 32, "patch_size": 8, "projection_dim": 16}}, named),
    "siglip": ("SiglipModel", {"text_config": SMALL, "vision_config": {**TOWER, "image_size": 32, "patch_size": 8}},
        named),
    # sounds and series
    "wav2vec2": ("Wav2Vec2ForCTC", HEARING, spoken),
    "hubert": ("HubertForCTC", HEARING, spoken),
    "wavlm": ("WavLMForSequenceClassification", HEARING, heard),
    "whisper": ("WhisperForConditionalGeneration", {**PAIR, "num_mel_bins": 16, "max_source_positions": 32,
        "max_target_positions": 32}, spectra),
    "spectrogram": ("ASTForAudioClassification", {**SMALL, "patch_size": 8, "frequency_stride": 8, "time_stride": 8,
        "max_length": 32, "num_mel_bins": 16}, spectrum),
    "patchtst": ("PatchTSTForPrediction", {"num_input_channels": 2, "context_length": 32, "patch_length": 8,
        "patch_stride": 8, "prediction_length": 8, "d_model": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "ffn_dim": 32}, series),
}  # fmt: skip


def transformer(name: str) -> tuple[nn.Module, Batches]:
    kind, config, batch = _configured(name)
    return kind(config), batch


def without_chance(name: str, attention: str) -> tuple[nn.Module, Batches]:
    """A model that drops nothing, with one of the implementations of attention: `eager` or `sdpa`."""
    kind, config, batch = _configured(name)
    for each in (config, *(value for value in vars(config).values() if hasattr(value, "to_dict"))):
        for setting, value in vars(each).items():
            if "drop" in setting and isinstance(value, float):
                setattr(each, setting, 0.0)
    return kind._from_config(config, attn_implementation=attention), batch


def _configured(name: str) -> tuple[Any, Any, Batches]:
    kind, settings, batch = TRANSFORMERS[name]
    model = getattr(import_module("transformers"), kind)
    return model, model.config_class(**copy.deepcopy(settings)), batch
